"""Blended windows: the four pixels of an image between which each pixel of another size lies."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Value

from systoliq.golden.network import LinearResize, Tensor, Window
from systoliq.golden.network.linear import Blend

from .image import ImageWindow, Loop
from .walk import Walk, numbered
from .window_buffer import WindowBuffer

__all__ = ["BlendedBuffer", "BlendedWindow"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BlendedWindow(ImageWindow):
    """Two rows and two columns of an image for each row and column of the output, as ``rows`` and ``columns`` say."""

    rows: Blend
    columns: Blend

    @classmethod
    def of(cls, node: LinearResize) -> BlendedWindow:
        """Return the windows of ``node``."""
        x: Tensor = node.inputs[0]
        image, window = (x.shape[2], x.shape[3]), Window(kernel=(2, 2))
        return cls(window=window, image=image, channels=x.channels, rows=node.rows, columns=node.columns)

    @property
    def out(self) -> tuple[int, int]:
        """Rows and columns of output pixels."""
        return len(self.rows), len(self.columns)

    def lines_needed(self) -> list[int]:
        """Lines that must have come before each row of windows, counted from those before it; all before the last."""
        reach = [*(each + 1 for each in self.rows.second[:-1]), self.image[0]]
        return [now - before for before, now in zip([0, *reach], reach, strict=False)]

    def lines_freed(self) -> list[int]:
        """Number of lines that are no longer needed after each row of windows."""
        first = [0, *self.rows.first[1:], self.image[0]]
        return [after - before for before, after in itertools.pairwise(first)]


class BlendedBuffer(WindowBuffer):
    """A window buffer whose ``windows`` are blended: they move by steps of their own."""

    windows: BlendedWindow

    def _address(self, m: Module, walk: Walk, loops: Sequence[Loop], tap: tuple[int, int]) -> Value:
        """Address of the current one of the four pixels."""
        rows, columns = self.windows.rows, self.windows.columns
        line, words = self.windows.image[1] * self.words, self.words
        taps = len(loops) - (5 if self.windows.groups > 1 else 4)  # the level of the loop over columns of a window
        moves: list[int | list[int]] = [loop.words for loop in loops]
        moves[taps : taps + 2] = [0, 0]
        moves[-2] = [(after - before) * words for before, after in itertools.pairwise(columns.first)]
        moves[-1] = [(after - before) * line for before, after in itertools.pairwise(rows.first)]
        moves.append(self.windows.pixels * words)
        start = rows.first[0] * line + columns.first[0] * words
        place = walk.place(moves, start, len(self.rams[0].read_address), name="address")
        below, beside = (
            numbered(m, walk.counts[level].value, [b - a for a, b in zip(each.first, each.second, strict=True)],
                         name=name) & walk.counts[tap_level].value
            for level, tap_level, each, name in ((-1, taps + 1, rows, "below"), (-2, taps, columns, "beside"))
        )  # fmt: skip
        return place + Mux(below, line, 0) + Mux(beside, words, 0)
