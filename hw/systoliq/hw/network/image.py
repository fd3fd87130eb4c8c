"""Images under a sliding window: which pixels each output pixel is made of, in which order, and when they are there."""

from __future__ import annotations

import dataclasses
import itertools
import math

from systoliq.golden.network import Tensor, Window

__all__ = ["ImageWindow", "Loop"]


@dataclasses.dataclass(frozen=True)
class Loop:
    """One loop of a walk over windows: ``count`` rounds, and how far each of them moves.

    ``words`` is the way in the memory of an image, ``y`` and ``x`` that in rows and columns.
    """

    count: int
    words: int
    y: int = 0
    x: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageWindow:
    """A ``window`` that slides over images of (rows, columns) pixels of ``channels``.

    At each place, it returns the channels of the first of ``groups``, pixel by pixel, then the next group's.
    """

    window: Window
    image: tuple[int, int]
    channels: int
    groups: int = 1

    @classmethod
    def over(cls, tensor: Tensor, window: Window | None = None, groups: int = 1) -> ImageWindow:
        """Return ``window`` over images that are ``tensor``, a column of pixels if it is no image; None: each pixel."""
        image = (tensor.shape[2], tensor.shape[3]) if len(tensor.shape) == 4 else (tensor.pixels, 1)
        return cls(window=window or Window(kernel=(1, 1)), image=image, channels=tensor.channels, groups=groups)

    @property
    def out(self) -> tuple[int, int]:
        """Rows and columns of output pixels."""
        return self.window.positions(self.image)

    @property
    def pixels(self) -> int:
        """Pixels of an image."""
        return math.prod(self.image)

    @property
    def moves(self) -> bool:
        """True if windows are not just the pixels in order."""
        return self.window != Window(kernel=(1, 1))

    @property
    def leaves_image(self) -> bool:
        """True if a whole row or column of windows may lie in the padding."""
        return any(pad >= span for pad, span in zip(self.window.pads, self.window.spans * 2, strict=True))

    def word(self, depth: int) -> int:
        """Channels in a beat of the image for windows of ``depth`` elements a beat: at most a group's channels."""
        return min(depth, self.channels // self.groups)

    def taps(self, depth: int) -> tuple[int, int]:
        """Rows and columns of a window's pixels in a beat of ``depth`` elements: parts of one pixel, of one row of the
        window, or whole rows.

        Raises ValueError where they are none of these.
        """
        channels, (down, across) = self.channels // self.groups, self.window.kernel
        pixels = -(-depth // channels)
        rows, columns = max(pixels // across, 1), min(pixels, across)
        whole = depth % channels == 0 or (pixels == 1 and channels % depth == 0)
        if not whole or rows * columns != pixels or down % rows or across % columns:
            raise ValueError(
                f"depth must be part of {channels} channels, or all of some pixels that divide a window's row of "
                f"{across}, or of rows that divide its {down}, not {depth}"
            )
        return rows, columns

    @property
    def depths(self) -> list[int]:
        """All depths that `taps` supports, in increasing order: up to a pixel, then several pixels."""
        channels, (down, across) = self.channels // self.groups, self.window.kernel
        pixels = [*_divisors(across), *(across * rows for rows in _divisors(down))]
        return [*_divisors(channels), *(channels * each for each in sorted(set(pixels)) if each > 1)]

    @property
    def elements(self) -> int:
        """Elements of one window, padding and all groups included."""
        return math.prod(self.window.kernel) * self.channels

    def loops(self, words: int, taps: tuple[int, int] = (1, 1), times: int = 1) -> tuple[Loop, ...]:
        """The walk over all windows of an image, the innermost loop first, a pixel being ``words`` words, some to each
        group; ``taps`` are rows and columns of a window's pixels that one step takes. A group's part of a window comes
        ``times`` times in a row.
        """
        line = self.image[1] * words
        (down, across), (by_y, by_x) = self.window.dilations, self.window.strides
        each = words // self.groups
        pixel, group = Loop(each, 1), Loop(self.groups, each)
        rows, columns = taps
        column = Loop(self.window.kernel[1] // columns, columns * across * words, x=columns * across)
        row = Loop(self.window.kernel[0] // rows, rows * down * line, y=rows * down)
        out_down, out_across = self.out
        return (
            *((pixel,) if each > 1 or self.groups == 1 else ()),
            column,
            row,
            *((Loop(times, 0),) if times > 1 else ()),
            *((group,) if self.groups > 1 else ()),
            Loop(out_across, by_x * words, x=by_x),
            Loop(out_down, by_y * line, y=by_y),
        )

    def lines_needed(self) -> list[int]:
        """Lines of the image that must have come before each row of windows can begin, counted from those before it.

        The first row waits for a line even if it is all padding, so that no result comes before its image; the last row
        waits for the whole image, so that the next line belongs to the next image.
        """
        window, height = self.window, self.image[0]
        ends = [row * window.strides[0] + window.spans[0] - window.pads[0] for row in range(self.out[0])]
        reach = [*(min(max(end, 1), height) for end in ends[:-1]), height]
        return [now - before for before, now in zip([0, *reach], reach, strict=False)]

    def lines_freed(self) -> list[int]:
        """Number of lines that are no longer needed after each row of windows."""
        starts = [row * self.window.strides[0] - self.window.pads[0] for row in range(self.out[0])]
        first = [*(min(max(start, 0), self.image[0]) for start in starts), self.image[0]]
        return [after - before for before, after in itertools.pairwise(first)]

    @property
    def lines(self) -> int:
        """Lines that must be held so that the next ones can come while a row of windows is made."""
        needed, freed = self.lines_needed(), self.lines_freed()
        held = [sum(needed[: row + 1]) - sum(freed[:row]) for row in range(len(needed))]
        coming = [*needed[1:], needed[0]]
        return max(have + max(more, self.window.strides[0]) for have, more in zip(held, coming, strict=True))


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]
