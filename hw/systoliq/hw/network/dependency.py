"""Dependency: the part of the input that each pixel of a tensor depends on, and the data that wait at a join."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from systoliq.golden import network

__all__ = ["Dependency", "waiting_pixels"]


@dataclasses.dataclass(frozen=True, eq=False)
class Dependency:
    """``needed[j]``: pixels of the network's input that must have come before pixel j of a tensor is made.

    Several inputs count as coming side by side, in steps of the pixels of the largest: where they come otherwise, a
    part of the network waits for the others, and never for room.

    ``line``: pixels of a line of the tensor, or of all of it where it has none. ``lag``: how long after these a pixel
    is there, as a share of the time between images.
    """

    needed: np.ndarray
    line: int
    lag: float = 0.0

    @classmethod
    def of_source(cls, tensor: network.Tensor, steps: int | None = None) -> Dependency:
        """Dependency of an input itself, whose image comes in ``steps``: by default its pixels."""
        steps = steps or tensor.pixels
        return cls(-(-np.arange(1, tensor.pixels + 1) * steps // tensor.pixels), tensor.columns)

    def over(self, pixels: int) -> np.ndarray:
        """``needed`` of the same elements in the same order, divided into another number of pixels."""
        ends = np.arange(1, pixels + 1) * len(self.needed)
        return np.asarray(self.needed[-(-ends // pixels) - 1])

    def of_lines(self, tensor: network.Tensor, lines: np.ndarray, columns: int) -> np.ndarray:
        """``needed`` of lines of ``columns`` pixels: line i needs the first ``lines[i]`` lines of ``tensor``, whose
        dependency this is.
        """
        return np.repeat(self.over(tensor.pixels)[lines * tensor.shape[3] - 1], columns)


def waiting_pixels(inputs: Sequence[Dependency], pixels: int) -> list[int]:
    """For each input of a join of ``pixels``: those that must find room before it, so that none is held up by others.

    When the others' pixel j comes, as much of the image has come as it needs; by then this input may have made all
    pixels that need no more, and as many more as come while the others lag behind; and j of them have left. One more
    line, so that neither side waits for room; and a pixel for either end, as beats are parts of pixels.
    """
    found = []
    needed = [each.over(pixels) for each in inputs]
    for index, each in enumerate(inputs):
        others = [place for place in range(len(inputs)) if place != index]
        first = np.max([needed[place] for place in others], axis=0)
        made = np.searchsorted(needed[index], first, side="right")
        late = max(0.0, *(inputs[place].lag - each.lag for place in others))
        most = int((made - np.arange(pixels)).max()) + math.ceil(late * pixels)
        found.append(most + each.line + 2)
    return found
