"""Sums in float32 as integers: every addition, and whole averages, also at ties."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Blend, LinearResize, Tensor, Window, WindowedAverage
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


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
def test_interpolations(form):
    """Of random places with weights of few bits, at equal scales and at those of their own."""
    rng = np.random.default_rng(7)
    for draw in range(6):
        size = int(rng.integers(1, 7))
        places = np.sort(rng.integers(0, 8 * size - 7, 60)) / 8
        first = places.astype(int)
        second = np.minimum(first + 1, size - 1)
        of_second = np.where(first == second, 0.5, places - first)
        each = Blend(
            first=tuple(first.tolist()),
            second=tuple(second.tolist()),
            of_first=tuple((1 - of_second).tolist()),
            of_second=tuple(of_second.tolist()),
        )
        scale = np.float32(2.0 ** rng.uniform(-9, 2))
        points = rng.integers(form.min, form.max + 1, 2)
        x = Tensor(name="x", shape=(1, 3, size, size), format=form, scale=scale, zero_point=points[0])
        y = x.replace(name="y", shape=(1, 3, 60, 60))
        if draw % 3 == 2:
            y = y.replace(scale=np.float32(scale * 2 ** rng.uniform(-3, 1)), zero_point=points[1])
        node = LinearResize(name="r", inputs=(x,), output=y, rows=each, columns=each)
        image = rng.integers(form.min, form.max + 1, x.shape).astype(form.dtype)
        picked = [image[:, :, rows][..., columns] for rows in (first, second) for columns in (first, second)]
        pixels = np.stack(picked, -1).astype(int) - form.min
        weights = np.broadcast_to(node.weights.reshape(60, 60, 4), pixels.shape)
        np.testing.assert_array_equal(RealSums.of_linear(node).apply(pixels, weights), node.apply(image))


def test_interpolations_with_too_many_weights():
    first, weights = tuple(range(70)), np.linspace(0.1, 0.9, 70, dtype=np.float32)
    blend = Blend(
        first=first,
        second=tuple(each + 1 for each in first),
        of_first=tuple(weights.tolist()),
        of_second=tuple((1 - weights).tolist()),
    )
    one = Blend(first=(0,), second=(1,), of_first=(1.0,), of_second=(0.0,))
    x = Tensor(name="x", shape=(1, 1, 2, 71), format=INT8, scale=np.float32(0.1), zero_point=3)
    y = x.replace(name="y", shape=(1, 1, 1, 70))
    node = LinearResize(name="r", inputs=(x,), output=y, rows=one, columns=blend)
    with pytest.raises(
        ValueError, match="its weights must be at most 64 numbers times powers of two, not 98: resize by a power of two"
    ):
        RealSums.of_linear(node)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"second": (0, 2)}, "second be the same or the next one"),
        ({"first": (1, 0), "second": (1, 1)}, "first and second must not fall"),
        ({"of_first": (0.5, 1.5)}, "weights must be float32 numbers from 0 to 1"),
        ({"of_first": (0.5,)}, "must have as many numbers each"),
    ],
)
def test_places_that_hardware_does_not_follow(changes, message):
    given = {"first": (0, 0), "second": (0, 1), "of_first": (0.5, 0.25), "of_second": (0.5, 0.75)}
    with pytest.raises(ValueError, match=message):
        Blend(**given | changes)


def test_what_has_no_such_sums():
    x = Tensor(name="x", shape=(1, 1, 4, 4), format=INT8, scale=np.float32(0.1), zero_point=3)
    window = Window(kernel=(2, 2), pads=(1, 1, 1, 1))
    node = WindowedAverage(name="a", inputs=(x,), output=x.replace(name="y", shape=(1, 1, 5, 5)), window=window)
    with pytest.raises(ValueError, match="all windows must count the same number of pixels, not 1 to 4"):
        RealSums.of(node)
