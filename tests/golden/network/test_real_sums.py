"""Sums in float32 as integers: every addition, and whole averages, also at ties."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Tensor, Window, WindowedAverage
from systoliq.golden.network.real_sums import RealSums, round24


def test_rounding_is_that_of_float32():
    """Of random integers of up to 50 bits, and next to ties and powers of two, as numpy converts them."""
    rng = np.random.default_rng(1)
    exponents = rng.integers(0, 50, 200_000)
    totals = rng.integers(0, 2**50, 200_000) >> exponents
    kept, dropped = rng.integers(1 << 23, 1 << 24, 50_000), rng.integers(1, 26, 50_000)
    ties = (kept << dropped) + (1 << dropped >> 1)
    powers = np.int64(1) << np.arange(50, dtype=np.int64)
    totals = np.concatenate([totals, ties - 1, ties, ties + 1, powers - 1, powers, powers + 1])
    for signed in (totals, -totals):
        np.testing.assert_array_equal(round24(signed), signed.astype(np.float32).astype(np.int64))


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("size", range(2, 8))
def test_averages(size, form):
    """Of windows of `size` x `size`, at equal scales, at those of their own and at powers of two."""
    rng = np.random.default_rng(size)
    ties = 0
    for draw in range(6):
        scale = np.float32(2.0 ** (rng.integers(-9, 2) if draw == 3 else rng.uniform(-9, 2)))
        points = rng.integers(form.min, form.max + 1, 2)
        window = Window(kernel=(size, size), strides=(size, size))
        x = Tensor(name="x", shape=(1, 1, size, 2000 * size), format=form, scale=scale, zero_point=points[0])
        y = x.replace(name="y", shape=(1, 1, 1, 2000))
        if draw % 3 == 2:
            y = y.replace(scale=np.float32(scale * 2 ** rng.uniform(-3, 1)), zero_point=points[1])
        node = WindowedAverage(name="a", inputs=(x,), output=y, window=window)
        images = rng.integers(form.min, form.max + 1, x.shape).astype(form.dtype)
        if draw == 1:
            images = np.clip(images, int(points[0]) - 3, int(points[0]) + 3).astype(form.dtype)
        places = window.patches(images.astype(int) - form.min, 0).reshape(1, 1, 1, 2000, -1)
        np.testing.assert_array_equal(RealSums.of(node).apply(places), node.apply(images))
        ties += node.uncertain_sum is not None
    assert ties >= (3 if size % 2 == 0 else 0)


def test_what_has_no_such_sums():
    x = Tensor(name="x", shape=(1, 1, 4, 4), format=INT8, scale=np.float32(0.1), zero_point=3)
    window = Window(kernel=(2, 2), pads=(1, 1, 1, 1))
    node = WindowedAverage(name="a", inputs=(x,), output=x.replace(name="y", shape=(1, 1, 5, 5)), window=window)
    with pytest.raises(ValueError, match="all windows must count the same number of pixels, not 1 to 4"):
        RealSums.of(node)
