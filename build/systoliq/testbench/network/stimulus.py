"""Stimulus of a network: images, every tensor that golden makes of them, and both ends as beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Tensor
from systoliq.hw.packing import image_words
from systoliq.sim.cosimulation.network import beat_lanes

from ...design.network.design import NetworkDesign
from ...design.once import once
from ..beats import SEED, Beat, beats_of, random_operands

__all__ = ["NetworkStimulus", "network_stimulus"]

_LEAST, _FEW, _MOST = 3, 10, 40  # images: a stopped receiver of a small network, which holds some, stops its sender
_CYCLES = 20_000
_HALVINGS = (4, 1, 5, 2, 6, 3)  # of A's whole range, for images about the zero point
_MAPS = 4  # axes: image, channel, row, column
_LEVELS = (7, 10, 18, 26, 34)  # images that are one value in each channel; none in a network of few images


@dataclass(frozen=True, kw_only=True)
class NetworkStimulus:
    """`tensors`: every integer tensor of `images` images, by its name in ONNX; `inputs` and `outputs` are the beats of
    each port by its letter. Some phases have the first `few` images alone.
    """

    images: int
    few: int
    tensors: dict[str, npt.NDArray[Any]]
    inputs: dict[str, tuple[Beat, ...]]
    outputs: dict[str, tuple[Beat, ...]]

    def each(self, beats: Sequence[Beat]) -> int:
        """How many of `beats` an image has."""
        return len(beats) // self.images

    @property
    def results(self) -> int:
        """Beats of an image's results, of all outputs."""
        return sum(map(self.each, self.outputs.values()))


@once
def network_stimulus(design: NetworkDesign) -> NetworkStimulus:
    """Images of every swing, and some that are the same everywhere; few where they take many cycles."""
    assembly = design.assembly
    count = min(max(_CYCLES // assembly.image_cycles, _LEAST), _MOST)
    generator = np.random.default_rng(SEED)
    images = {tensor.name: _images(tensor, count, generator) for tensor in design.network.inputs}
    tensors = design.network.golden(images)
    inputs, outputs = (
        {
            letter: _beats(assembly.tensors[name], tensors[name], beat_lanes(assembly, name))
            for letter, name in streams.items()
        }
        for streams in (assembly.inputs, assembly.outputs)
    )
    return NetworkStimulus(images=count, few=min(count, _FEW), tensors=tensors, inputs=inputs, outputs=outputs)


def _images(tensor: Tensor, count: int, generator: np.random.Generator) -> npt.NDArray[Any]:
    """Anything in the format, in turn with what lies about the zero point, and after that both ends and the zero point
    alone; some maps have one value in each channel, which no average takes away.
    """
    of = tensor.format
    images = random_operands(of, (count, *tensor.shape[1:]), generator)
    for index, halvings in zip(range(1, count, 2), cycle(_HALVINGS)):
        swing = (of.max - of.min) * 0.5**halvings
        about = generator.normal(tensor.zero_point, swing, images.shape[1:])
        images[index] = of.saturate(np.rint(about))
    for index, value in zip(range(_LEAST + 1, count, 2), (of.min, of.max, tensor.zero_point), strict=False):
        images[index] = value
    if images.ndim == _MAPS:
        levels = [index for index in _LEVELS if index < count]
        images[levels] = images[levels, :, :1, :1]
    return images


def _beats(tensor: Tensor, array: npt.NDArray[Any], lanes: int) -> tuple[Beat, ...]:
    return beats_of(*image_words(tensor.raster(array), lanes, tensor.format.bits))
