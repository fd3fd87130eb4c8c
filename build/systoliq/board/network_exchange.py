"""Exchange of a network: a unit is an image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from systoliq.golden.network import Tensor
from systoliq.hw.network.assembly import Assembly
from systoliq.hw.packing import image_words

from ..design.design import Arrays
from .exchange import Exchange

__all__ = ["network_exchange"]


def network_exchange(assembly: Assembly, golden: Arrays, output: Tensor) -> Exchange:
    """Units for the images in `golden`, all tensors by name; `output` is the one that leaves."""
    (inlet,) = assembly.pipeline.inputs
    source = assembly.tensors[inlet.name]
    images = source.raster(golden[source.name])
    words, _ = image_words(images, inlet.lanes)
    right = golden[output.name]

    def read(answers: Sequence[bytes]) -> Arrays:
        streamed = np.frombuffer(b"".join(answers), right.dtype).reshape(output.raster(right).shape)
        return {output.name: np.ascontiguousarray(output.unraster(streamed))}

    return Exchange(
        requests=tuple(image.tobytes() for image in words.reshape(len(images), -1)),
        answer_bytes=output.raster(right)[0].nbytes,
        read=read,
        expected={output.name: np.ascontiguousarray(right)},
    )
