"""Geometry of windows on images: which pixels, in which order, by numpy; lines needed and freed, by counting pixels."""

from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
import pytest

from systoliq.golden.network import Window
from systoliq.hw.network.image import ImageWindow

from . import stage_bench as bench


def drawn(seed):
    """A random window on an image, of 1 to 4 channels."""
    rng = random.Random(seed)
    image = bench.image_of(rng)
    return ImageWindow(window=bench.window_of(rng, image), image=image, channels=rng.choice([1, 2, 3, 4, 6]))


def walked(loops, field):
    """What `field` adds up to in each round of the loops, the innermost the fastest."""
    moves = [np.arange(loop.count) * getattr(loop, field) for loop in loops]
    return sum(np.meshgrid(*moves[::-1], indexing="ij"))


def rows_seen(windows):
    """For each row of windows the lines of the image that it has pixels of, by numpy."""
    lines = np.broadcast_to(np.arange(1, windows.image[0] + 1)[:, None], windows.image)
    patches = windows.window.patches(lines[None, None], 0)[0, 0]
    return [set(row.reshape(-1).tolist()) - {0} for row in patches]


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("seed", range(40))
def test_loops_walk_over_the_pixels_of_the_windows(seed, groups):
    windows = drawn(seed)
    windows = dataclasses.replace(windows, groups=math.gcd(groups, windows.channels))
    height, width = windows.image
    words = windows.channels
    image = np.arange(height * width * words).reshape(height, width, words)
    patches = windows.window.patches(image.transpose(2, 0, 1)[None], -1)[0]  # channels, down, across, *kernel
    wanted = patches.reshape(windows.groups, -1, *patches.shape[1:]).transpose(2, 3, 0, 4, 5, 1)
    loops = windows.loops(words)
    top, left, *_ = windows.window.pads
    address = walked(loops, "words") - (top * width + left) * words
    y, x = walked(loops, "y") - top, walked(loops, "x") - left
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    np.testing.assert_array_equal(np.where(inside, address, -1).reshape(-1), wanted.reshape(-1))
    assert windows.elements == patches[:, 0, 0].size
    assert (windows.pixels, windows.out) == (height * width, patches.shape[1:3])


@pytest.mark.parametrize("seed", range(20))
def test_depths_are_parts_of_a_pixel_or_of_a_row_or_whole_rows(seed):
    windows = drawn(seed)
    down, across = windows.window.kernel
    found = {depth: windows.taps(depth) for depth in windows.depths}
    for depth in set(range(1, 2 * windows.elements + 1)) - set(found):
        with pytest.raises(ValueError, match=rf"depth must be part of {windows.channels} channels, .*, not {depth}$"):
            windows.taps(depth)
    for depth, (rows, columns) in found.items():
        assert rows * columns * windows.word(depth) == depth
        assert windows.channels % windows.word(depth) == down % rows == across % columns == 0
        assert rows == 1 or columns == across
    assert max(found) == windows.elements


@pytest.mark.parametrize("seed", range(60))
def test_lines(seed):
    """A row of windows waits for its pixels' lines, none is freed that a later row sees, and all are in the end."""
    windows = drawn(seed)
    came = np.cumsum(windows.lines_needed())
    gone = np.cumsum(windows.lines_freed())
    seen = rows_seen(windows)
    assert min(windows.lines_needed()) >= 0
    assert min(windows.lines_freed()) >= 0
    for row, lines in enumerate(seen):
        assert came[row] >= max(lines, default=0)
        assert gone[row] < min(set().union(*seen[row + 1 :]), default=windows.image[0] + 1)
        assert came[row] - (gone[row - 1] if row else 0) <= windows.lines  # there is room for all that are needed
    assert came[-1] == gone[-1] == windows.image[0]
    assert came[0] >= 1  # nothing comes before its image does


def test_lines_of_a_usual_window():
    windows = ImageWindow(window=Window(kernel=(3, 3), strides=(2, 2), pads=(0, 0, 1, 1)), image=(6, 6), channels=1)
    assert windows.lines_needed() == [3, 2, 1]
    assert windows.lines_freed() == [2, 2, 2]


def test_pixels_in_their_order_are_no_windows():
    kernel = Window(kernel=(1, 1))
    assert not ImageWindow(window=kernel, image=(3, 3), channels=2).moves
    for moving in (
        Window(kernel=(1, 1), strides=(1, 2)),
        Window(kernel=(1, 2)),
        Window(kernel=(1, 1), pads=(0, 0, 0, 1)),
    ):
        assert ImageWindow(window=moving, image=(3, 3), channels=2).moves
