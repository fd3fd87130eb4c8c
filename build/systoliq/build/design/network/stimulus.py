"""Stimulus of a network: images, every tensor that golden makes of them, and both ends as beats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Tensor
from systoliq.hw.packing import image_words
from systoliq.sim.cosimulation.network import beat_lanes

from ..beats import SEED, Beat, beats_of, random_operands

if TYPE_CHECKING:
    from .design import NetworkDesign

__all__ = ["NetworkStimulus", "network_stimulus"]

_IMAGES = 3


@dataclass(frozen=True, kw_only=True)
class NetworkStimulus:
    """`tensors`: every integer tensor of `images` images, by its name in ONNX."""

    images: int
    tensors: dict[str, npt.NDArray[Any]]
    a_beats: tuple[Beat, ...]
    y_beats: tuple[Beat, ...]


def network_stimulus(design: NetworkDesign) -> NetworkStimulus:
    """Random images of every swing, and one of extremes."""
    generator = np.random.default_rng(SEED)
    (source,) = design.network.sources
    tensor = source.tensor
    images = random_operands(tensor.format, (_IMAGES, *tensor.shape[1:]), generator)
    calm = generator.normal(tensor.zero_point, 20, images.shape[1:])
    images[1] = tensor.format.saturate(np.rint(calm))
    tensors = design.network.golden({tensor.name: images})
    pipeline = design.assembly.pipeline
    output = design.assembly.tensors[pipeline.output]
    return NetworkStimulus(
        images=_IMAGES,
        tensors=tensors,
        a_beats=_beats(tensor, tensors[tensor.name], pipeline.lanes),
        y_beats=_beats(output, tensors[output.name], beat_lanes(design.assembly, output.name)),
    )


def _beats(tensor: Tensor, array: npt.NDArray[Any], lanes: int) -> tuple[Beat, ...]:
    return beats_of(*image_words(tensor.raster(array), lanes, tensor.format.bits))
