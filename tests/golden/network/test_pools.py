"""Pools: each output from its window's pixels, one by one, and what does not fit them."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.golden.network import MaxPool, Tensor, WholeAverage, Window, WindowedAverage

from .window_places import lies_at


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


def averages(kernel, x_scale, y_scale, zero_points, form=INT8):
    """The average of windows of `kernel` over an image of many windows that share no pixel."""
    window = Window(kernel=kernel, strides=kernel)
    rows, columns = kernel[0], kernel[1] * 4000
    x = tensor("x", 1, 1, rows, columns, form=form, scale=x_scale, zero_point=zero_points[0])
    y = tensor("y", 1, 1, 1, 4000, form=form, scale=y_scale, zero_point=zero_points[1])
    return WindowedAverage(name="w", inputs=(x,), output=y, window=window)


@pytest.mark.parametrize("kernel", [(1, 2), (2, 2), (3, 3), (2, 3), (4, 4)], ids=str)
def test_averages_that_are_functions_of_the_sum(kernel):
    """Without an uncertain sum, float32 in any order of pixels gives the requantized sum; windows whose sums are next
    to ties, where there are any.
    """
    rng = np.random.default_rng(6)
    certain = 0
    for draw in range(40):
        scales = 2 ** rng.uniform(-7, -4, 2)
        scales = [scales[0]] * 2 if draw % 2 else 2 ** np.round(np.log2(scales)) if draw % 4 == 0 else scales
        points = rng.integers(-128, 128, 2)
        node = averages(kernel, *scales, [points[0]] * 2 if draw % 2 else points)
        if node.uncertain_sum is not None:
            continue
        certain += 1
        x = images(INT8, 8, *node.inputs[0].shape[1:], seed=draw)
        sums = node.window.patches(x.astype(int) - node.inputs[0].zero_point, 0).sum(axis=(4, 5))
        wanted = node.requantization.apply(sums)
        np.testing.assert_array_equal(node.apply(x), wanted)
        turned = x.reshape(8, kernel[0], 4000, kernel[1])[:, ::-1, :, ::-1].reshape(x.shape)
        np.testing.assert_array_equal(node.apply(turned), wanted)
    assert certain >= (20 if np.prod(kernel) % 2 else 4)


@pytest.mark.parametrize("kernel", [(1, 2), (2, 2), (2, 4)], ids=str)
def test_an_uncertain_sum_is_half_way(kernel):
    """With equal scales an even number of pixels has ties, and float32 rounds some of them to either side."""
    node = averages(kernel, 0.0123, 0.0123, (3, 3))
    pixels = int(np.prod(kernel))
    assert node.uncertain_sum % pixels == pixels // 2
    sums = node.window.patches(x := images(INT8, 8, *node.inputs[0].shape[1:]), 0).astype(int)
    ties = (sums.sum(axis=(4, 5)) - 3 * pixels) % pixels == pixels // 2
    wrong = node.apply(x) != node.requantization.apply(sums.sum(axis=(4, 5)) - 3 * pixels)
    assert wrong.any()
    assert not wrong[~ties].any()


@pytest.mark.parametrize("points", [(0, 0), (5, 5), (4, 8)])
def test_powers_of_two_are_averaged_exactly(points):
    """No addition rounds: the result is a function of the sum, and the requantized one where the zero point is even, as
    it is added before ties go to even integers.
    """
    node = averages((2, 2), 0.25, 0.25, points)
    assert (node.uncertain_sum is None) == (points[1] % 2 == 0)


def test_what_is_no_function_of_the_sum():
    uneven = pool(WindowedAverage, X, tensor("y", 1, 2, 5, 5), window=Window(kernel=(2, 2), pads=(1, 1, 1, 1)))
    with pytest.raises(ValueError, match="all windows must count the same number of pixels, not 1 to 4: count_incl"):
        uneven.uncertain_sum  # noqa: B018 - raises
    with pytest.raises(ValueError, match=r"the scale of 'x' must be 2\^-80 to 2\^80, not 1e-30"):
        averages((2, 2), 1e-30, 1, (0, 0)).uncertain_sum  # noqa: B018
