"""Reach: how much of an image must have come before so much of a tensor is made; and what has to wait at a join."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from systoliq.golden import network

from .rate import windows_of

__all__ = ["Reach", "waiting_pixels"]


@dataclasses.dataclass(frozen=True, eq=False)
class Reach:
    """``needed[j]``: pixels of the network's input that must have come before pixel j of a tensor is made.

    ``line``: pixels of a line of the tensor, or of all of it where it has none.
    """

    needed: np.ndarray
    line: int

    @classmethod
    def of_source(cls, tensor: network.Tensor) -> Reach:
        """Of the input itself."""
        pixels = tensor.pixels
        return cls(np.arange(1, pixels + 1), tensor.shape[3] if len(tensor.shape) == 4 else pixels)

    @classmethod
    def of_node(cls, node: network.Node, given: Sequence[Reach]) -> Reach:
        """Of a node's output, by the reaches of its inputs."""
        line = node.output.shape[3] if len(node.output.shape) == 4 else node.output.pixels
        if isinstance(node, network.Move):
            picked = node.order[:, 0] // node.output.channels
            return cls(np.maximum.accumulate(given[0].needed[picked]), line)
        window = getattr(node, "window", None)
        if window is None:
            return cls(np.max([each.over(node.output.pixels) for each in given], axis=0), line)
        windows = windows_of(node)
        if not windows.moves:
            return cls(given[0].needed, line)
        rows = [given[0].needed[lines * windows.image[1] - 1] for lines in itertools.accumulate(windows.lines_needed())]
        return cls(np.repeat(rows, windows.out[1]), line)

    def over(self, pixels: int) -> np.ndarray:
        """``needed`` of the same elements in their order, cut into so many pixels."""
        ends = np.arange(1, pixels + 1) * len(self.needed)
        return np.asarray(self.needed[-(-ends // pixels) - 1])


def waiting_pixels(inputs: Sequence[Reach]) -> list[int]:
    """For each input of a join: pixels that must find room before it, so that none is held up by the others.

    When the others' pixel j comes, as much of the image has come as it needs; by then this input may have made all
    pixels that need no more, and j of them have left. A line more, so that nobody waits for room; and a pixel for
    either end, as beats are parts of pixels.
    """
    found = []
    for index, each in enumerate(inputs):
        others = np.max([other.needed for place, other in enumerate(inputs) if place != index], axis=0)
        made = np.searchsorted(each.needed, others, side="right")
        most = int((made - np.arange(len(others))).max())
        found.append(most + each.line + 2)
    return found
