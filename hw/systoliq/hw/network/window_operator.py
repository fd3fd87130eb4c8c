"""Window operators: each output is made of a window of pixels of an image."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from systoliq.golden import network

from .dependency import Dependency
from .image import ImageWindow
from .memory import Memory
from .operator import N_co, Operator
from .parallelism import Parallelism
from .window_buffer import WindowBuffer

__all__ = ["ROW", "WindowOperator"]

ROW = 2  # least cycles from one row of windows to the next


class WindowOperator(Operator[N_co]):
    """An operator that takes the windows of its input's image, channel by channel."""

    tested: ClassVar[str] = "window, order, flow"

    @property
    def window(self) -> network.Window:
        """The window that slides: the node's own by default."""
        found: network.Window = self.node.window  # type: ignore[attr-defined]
        return found

    @cached_property
    def windows(self) -> ImageWindow:
        """The windows over the input's image."""
        return ImageWindow.over(self.node.inputs[0], self.window)

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits.

        Windows that leave the image (`ImageWindow.leaves_image`) may take more: a row of them needs no line to come,
        and meanwhile none can come for the rows after it.
        """
        windows = self.windows
        beats = windows.channels // parallelism.cols
        made = math.prod(windows.out) * math.prod(windows.window.kernel) * beats
        return max(made, windows.pixels * beats, ROW * windows.out[0])

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        """`Dependency.needed` of the output: whole lines of the input, where windows move."""
        if not self.windows.moves:
            return super().needed(given)
        lines = np.cumsum(self.windows.lines_needed())
        return given[0].of_lines(self.node.inputs[0], lines, self.node.output.shape[3])

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        if window := self.window_memory(parallelism):
            yield window
            yield Memory(WindowBuffer.fifo_depth(cells), window.count * window.bits + 1)

    def window_parts(self, parallelism: Parallelism) -> dict[str, int]:
        """Return the window buffer, and the bits of its beats, which may be padding; see `Operator.parts`."""
        if (window := self.window_memory(parallelism)) is None:
            return {}
        return {"window": 1, "padded_bit": window.count * window.bits * any(self.windows.window.pads)}

    def window_memory(self, parallelism: Parallelism) -> Memory | None:
        lanes = parallelism.cols
        windows = dataclasses.replace(self.windows, groups=self.windows.channels // lanes)
        return Memory(WindowBuffer.depth_of(windows, lanes, 1), self.node.inputs[0].format.bits * lanes)
