"""Windows: where they lie, what they are called, and those that ONNX's attributes mean, pixel by pixel."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden.network import Window

from .window_places import lies_at

SHAPES = [
    {"kernel": (1, 1)},
    {"kernel": (3, 2)},
    {"kernel": (2, 3), "strides": (2, 1)},
    {"kernel": (3, 2), "strides": (1, 3), "pads": (1, 0, 2, 1)},
    {"kernel": (2, 2), "dilations": (2, 3)},
    {"kernel": (3, 1), "strides": (2, 2), "dilations": (2, 1), "pads": (0, 2, 1, 0)},
]


def count(window, image, axis):
    """Positions along an axis: as long as the window stays within the padded image."""
    size = image[axis] + window.pads[axis] + window.pads[axis + 2]
    span = (window.kernel[axis] - 1) * window.dilations[axis] + 1
    return len([at for at in range(0, size, window.strides[axis]) if at + span <= size])


@pytest.mark.parametrize("fields", SHAPES, ids=str)
@pytest.mark.parametrize("image", [(7, 8), (5, 5), (3, 4)])
def test_patches_are_the_pixels_under_each_window(fields, image):
    window = Window(**fields)
    spans = tuple((k - 1) * d + 1 for k, d in zip(window.kernel, window.dilations, strict=True))
    assert window.spans == spans
    counts = tuple(count(window, image, axis) for axis in (0, 1))
    if min(counts) < 1:
        with pytest.raises(ValueError, match="a window of .* must fit an image of"):
            window.positions(image)
        return
    assert window.positions(image) == counts
    x = np.arange(2 * 3 * image[0] * image[1]).reshape(2, 3, *image)
    patches = window.patches(x, -9)
    assert patches.shape == (2, 3, *counts, *window.kernel)
    for n, c, row, column in np.ndindex(2, 3, *counts):
        pixels = [-9 if at is None else x[(n, c, *at)] for at in lies_at(window, image, (row, column))]
        assert patches[n, c, row, column].ravel().tolist() == pixels


@pytest.mark.parametrize(
    ("auto_pad", "image", "kernel", "strides", "pads"),
    [
        ("SAME_UPPER", (5, 6), (2, 3), (1, 1), (0, 1, 1, 1)),
        ("SAME_LOWER", (5, 6), (2, 3), (1, 1), (1, 1, 0, 1)),
        ("SAME_UPPER", (5, 6), (3, 2), (2, 2), (1, 0, 1, 0)),
        ("SAME_UPPER", (6, 5), (3, 4), (2, 2), (0, 1, 1, 2)),
        ("SAME_LOWER", (6, 5), (3, 4), (2, 2), (1, 2, 0, 1)),
        ("SAME_UPPER", (6, 5), (1, 1), (2, 3), (0, 0, 0, 0)),
        ("VALID", (5, 6), (3, 2), (2, 2), (0, 0, 0, 0)),
        ("NOTSET", (5, 6), (3, 2), (2, 2), (3, 2, 1, 0)),
    ],
)
def test_automatic_padding(auto_pad, image, kernel, strides, pads):
    """Worked by hand: ceil(size / stride) windows, and of an odd pixel SAME_UPPER puts the more at the end."""
    given = (3, 2, 1, 0) if auto_pad == "NOTSET" else (0, 0, 0, 0)
    found = Window.of(image, kernel=kernel, strides=strides, pads=given, auto_pad=auto_pad)
    assert found == Window(kernel=kernel, strides=strides, pads=pads)
    if auto_pad.startswith("SAME"):
        assert found.positions(image) == tuple(-(-size // by) for size, by in zip(image, strides, strict=True))


def test_automatic_padding_knows_dilations():
    assert Window.of((6, 7), kernel=(3, 2), dilations=(2, 3), auto_pad="SAME_UPPER").pads == (2, 1, 2, 2)


@pytest.mark.parametrize(
    ("image", "kernel", "strides", "pads", "found"),
    [
        ((6, 6), (3, 3), (2, 2), (0, 0, 0, 0), (0, 0, 1, 1)),  # a window that begins at 4 reaches 6
        ((7, 6), (3, 3), (2, 2), (0, 0, 0, 0), (0, 0, 0, 1)),
        ((6, 7), (2, 3), (4, 3), (0, 0, 0, 0), (0, 0, 0, 2)),
        ((5, 5), (2, 2), (3, 3), (1, 1, 0, 0), (1, 1, 0, 0)),
        ((5, 5), (2, 2), (3, 3), (0, 0, 1, 1), (0, 0, 1, 1)),  # one that begins in the padding behind is left out
        ((4, 5), (1, 1), (3, 3), (0, 0, 0, 0), (0, 0, 0, 0)),
        ((5, 4), (1, 1), (3, 3), (1, 0, 1, 0), (1, 0, 1, 0)),
    ],
)
def test_last_windows_of_ceil_mode(image, kernel, strides, pads, found):
    """A last window reaches beyond the image, and must begin in it, or before it."""
    made = Window.of(image, kernel=kernel, strides=strides, pads=pads, ceil_mode=True)
    assert made == Window(kernel=kernel, strides=strides, pads=found)


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_every_small_last_window_of_ceil_mode(kernel, stride):
    """By windows one after the other, until one reaches the end; none begins behind the image."""
    for size, first, last in itertools.product(range(1, 10), range(4), range(4)):
        if size + first + last < kernel:
            continue
        end = size + first + last
        begin = 0
        while begin + kernel < end and begin + stride < size + first:
            begin += stride
        reach = max(begin + kernel - end, 0)
        made = Window.of((size, 9), kernel=(kernel, 1), strides=(stride, 1), pads=(first, 0, last, 0), ceil_mode=True)
        assert made.pads == (first, 0, last + reach, 0), (size, first, last)


@pytest.mark.parametrize("fields", [{}, {"strides": (2, 3)}, {"dilations": (1, 1)}])
def test_a_window_that_is_the_whole_image(fields):
    assert Window(kernel=(3, 4), **fields).covers((3, 4))
    for image in ((3, 5), (4, 4), (2, 4)):
        assert not Window(kernel=(3, 4), **fields).covers(image)
    assert not Window(kernel=(3, 4), pads=(0, 0, 0, 1), **fields).covers((3, 4))
    assert not Window(kernel=(2, 2), dilations=(2, 1)).covers((3, 2))
