"""Pools: each output from its window's pixels, one by one, and what does not fit them."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.golden.network import MaxPool, Tensor, WholeAverage, Window, WindowedAverage

from .test_window import lies_at


def tensor(name, *shape, form=UINT8, scale=0.5, zero_point=3):
    return Tensor(name=name, shape=shape, format=form, scale=np.float32(scale), zero_point=zero_point)


def images(form, *shape, seed=0):
    return np.random.default_rng(seed).integers(form.min, form.max + 1, shape).astype(form.dtype)


WINDOWS = [
    Window(kernel=(2, 2), strides=(2, 2)),
    Window(kernel=(3, 2), strides=(1, 2), pads=(2, 1, 1, 0)),
    Window(kernel=(2, 3), dilations=(2, 1), pads=(1, 1, 0, 2)),
]


@pytest.mark.parametrize("form", [INT8, UINT8, IntFormat(4, signed=True)], ids=str)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_greatest(form, window):
    """Of the pixels that are there: padding is the least integer, and wins where there is nothing else."""
    shape = (1, 3, *window.positions((5, 6)))
    node = MaxPool(
        name="m", inputs=(tensor("x", 1, 3, 5, 6, form=form),), output=tensor("y", *shape, form=form), window=window
    )
    x = images(form, 2, 3, 5, 6)
    y = node.apply(x)
    assert y.dtype == form.dtype
    for n, c, *at in np.ndindex(2, *shape[1:]):
        pixels = [x[(n, c, *pixel)] for pixel in lies_at(window, (5, 6), at) if pixel is not None]
        assert y[(n, c, *at)] == max(pixels, default=form.min)
    assert node.kind == f"maximum of {window}"


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("image", [(3, 5), (7,), (2, 2, 2)])
def test_average_of_all(form, image):
    """The exact sum, times float32's quotient of the scales, rounded once and saturated."""
    node = WholeAverage(
        name="a",
        inputs=(tensor("x", 1, 2, *image, form=form, scale=0.3, zero_point=5),),
        output=tensor("y", 1, 2, *[1] * len(image), form=form, scale=0.02, zero_point=9),
    )
    pixels = int(np.prod(image))
    assert node.pixels == pixels
    assert node.kind == f"average of all {pixels} pixels"
    scale = np.float32(np.float32(0.3) / np.float32(np.float32(0.02) * np.float32(pixels)))
    assert node.scale == scale
    x = images(form, 4, 2, *image)
    y, sums = node.apply(x), node.sums(x)
    assert y.shape == sums.shape == (4, 2, *[1] * len(image))
    for n, c in np.ndindex(4, 2):
        total = sum(int(each) - 5 for each in x[n, c].ravel())
        assert sums[n, c].item() == total
        wanted = int(np.rint(np.float32(total) * scale)) + 9
        assert y[n, c].item() == min(max(wanted, form.min), form.max)
    np.testing.assert_array_equal(node.requantization.apply(sums.ravel()), y.ravel())


@pytest.mark.parametrize("counts_padding", [True, False])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_average_of_windows(window, counts_padding):
    """float32 sums in raster order, rounded after each pixel; padding counts or does not."""
    shape = (1, 2, *window.positions((5, 6)))
    node = WindowedAverage(
        name="w",
        inputs=(tensor("x", 1, 2, 5, 6, scale=0.37, zero_point=120),),
        output=tensor("y", *shape, scale=0.21, zero_point=100),
        window=window,
        counts_padding=counts_padding,
    )
    x = images(UINT8, 2, 2, 5, 6, seed=1)
    y = node.apply(x)
    for n, c, *at in np.ndindex(2, *shape[1:]):
        total = np.float32(0)
        pixels = lies_at(window, (5, 6), at)
        for pixel in pixels:
            if pixel is not None:
                total += np.float32(int(x[(n, c, *pixel)]) - 120) * np.float32(0.37)
        count = len(pixels) if counts_padding else len(pixels) - pixels.count(None)
        assert node.counts[tuple(at)] == count
        if count:
            wanted = np.rint(total / np.float32(count) / np.float32(0.21) + np.float32(100))
            assert y[(n, c, *at)] == min(max(int(wanted), 0), 255)


def test_padding_is_not_counted_where_nothing_is_said():
    window = Window(kernel=(2, 2), pads=(1, 0, 0, 0))
    node = WindowedAverage(name="w", inputs=(tensor("x", 1, 1, 2, 2),), output=tensor("y", 1, 1, 2, 1), window=window)
    assert node.counts.tolist() == [[2], [4]]


def pool(kind, x, y, **more):
    return kind(name="p", inputs=(x,), output=y, **more)


X = tensor("x", 1, 2, 4, 4)
HALF = {"window": Window(kernel=(2, 2), strides=(2, 2))}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pool(MaxPool, tensor("x", 1, 2, 4), X, **HALF), r"'x' must have the shape \[batch, channels, rows, "),
        (
            lambda: pool(MaxPool, X, tensor("y", 1, 2, 4, 4), **HALF),
            r"'p' must have the shape \[1, 2, 2, 2\], not \[1, 2",
        ),
        (
            lambda: pool(MaxPool, X, tensor("y", 1, 3, 2, 2), **HALF),
            r"'p' must have the shape \[1, 2, 2, 2\], not \[1, 3",
        ),
        (lambda: pool(MaxPool, X, tensor("y", 1, 2, 2, 2, scale=0.7), **HALF), "must have the same format, scale and"),
        (
            lambda: pool(WindowedAverage, tensor("x", 1, 2, 4), X, **HALF),
            r"'x' must have the shape \[batch, channels, ",
        ),
        (
            lambda: pool(WindowedAverage, X, tensor("y", 1, 2, 2, 2, form=INT8), **HALF),
            "must be all of int8 or all of uint8, not of uint8, int8",
        ),
        (lambda: pool(WholeAverage, X, tensor("y", 1, 2, 1)), r"must have the shape \[1, 2, 1, 1\], not \[1, 2, 1\]"),
        (lambda: pool(WholeAverage, X, tensor("y", 1, 2, 1, 1, form=INT8)), "must be all of int8 or all of uint8, not"),
    ],
)
def test_what_does_not_fit(make, text):
    with pytest.raises(ValueError, match=text):
        make()
