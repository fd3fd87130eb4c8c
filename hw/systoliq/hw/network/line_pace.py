"""Line pace: whether a window buffer keeps up with lines that come at the pace of the stage before it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from .image import ImageWindow

__all__ = ["LAG", "keeps_up"]

_IMAGES = 8  # enough that delays, if there are any, repeat image by image
LAG = 5  # cycles from a line that is freed to the row of windows that waits for the one in its place, less its words


def keeps_up(windows: ImageWindow, *, lines: int, source_cycles: int, own_cycles: int, cycles: int) -> bool:
    """Return whether images follow each other every ``cycles`` through a window buffer with room for ``lines`` lines.

    The stage before the buffer takes ``source_cycles`` for an image, the same for each line, and stops while there is
    no room for the next line. The stage behind it takes ``own_cycles``, the same for each row of windows.
    """
    height, rows = windows.image[0], windows.out[0]
    unit = height * rows  # times are in cycles / unit, so that they are integers
    ends = _row_ends(windows, lines, line=source_cycles * rows, row=own_cycles * height, lag=LAG * unit)
    return ends[-1] - ends[rows - 1] <= (_IMAGES - 1) * cycles * unit


def _row_ends(windows: ImageWindow, lines: int, *, line: int, row: int, lag: int) -> Sequence[int]:
    """The end of each row of windows of some images; ``line``, ``row`` and ``lag`` in the unit of the result."""
    needed = accumulate(windows.lines_needed() * _IMAGES)
    freed = list(accumulate(windows.lines_freed() * _IMAGES))
    came = [0]  # when lines have come; the first entry is no line
    ends = [0]  # likewise of rows of windows
    freeing = 0  # the row of windows whose end makes room for the next line
    for count in needed:
        while len(came) <= count:
            opens = came[-1]
            if (full := len(came) - lines) > 0:
                while freed[freeing] < full:
                    freeing += 1
                opens = max(opens, ends[freeing + 1] + lag)
            came.append(opens + line)
        ends.append(max(came[count], ends[-1]) + row)
    return ends[1:]
