"""Placement of convolutions: parts that cover the rows, kernels as B, and what the masters' fields cannot say."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import E4M3FN, matmul_integer
from systoliq.golden.network import Window
from systoliq.hw.dma.commands import Placement, b_walk, command_list
from systoliq.hw.dma.convolutions import Maps, is_copied, kernel_rows, parts
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Job
from systoliq.hw.network.image import ImageWindow

from .some_maps import some_maps, windows

SHAPE = (1, 8, 8, 16)
WINDOW = Window(kernel=(3, 3), pads=(1, 1, 1, 1))


def of_rows(maps, address):
    """What each row of A is made of."""
    return [run[0] for run in windows(maps, 8, address, 1)]


@pytest.mark.parametrize("seed", range(30))
def test_parts_are_all_rows_in_order(seed):
    rng = random.Random(seed)
    maps, address = some_maps(rng, 8)
    down, across = maps.windows.out
    most = rng.choice([1, across, maps.rows, rng.randint(1, maps.rows), down * across])
    found, rows = [], 0
    for first, offset, part in parts(maps, most):
        assert first == rows
        assert part.rows <= most
        rows += part.rows
        found += of_rows(part, address + offset)
    assert rows == maps.rows
    assert found == of_rows(maps, address)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_what_fills_up_a_tap_adds_nothing(depth):
    """Whatever stands in A there."""
    rng = np.random.default_rng(depth)
    maps, config = Maps.of((1, 3, 3, 5), Window(kernel=(2, 3))), EngineConfig(depth=depth)
    kernels, zero_points = rng.integers(-128, 128, (7, 5, 2, 3)).astype(np.int8), rng.integers(-9, 9, 7).astype(np.int8)
    b = kernel_rows(kernels, config, zero_points)
    assert b.shape == (maps.k(config), 7)
    pixels = rng.integers(-128, 128, (1, 6, 5)).astype(np.int8)
    a = rng.integers(-128, 128, (1, 6, b.shape[0] // 6)).astype(np.int8)
    a[:, :, :5] = pixels
    flat = kernels.transpose(2, 3, 1, 0).reshape(-1, 7)
    np.testing.assert_array_equal(
        matmul_integer(a.reshape(1, -1), b, np.int8(-3), zero_points),
        matmul_integer(pixels.reshape(1, -1), flat, np.int8(-3), zero_points),
    )


@pytest.mark.parametrize(
    ("shape", "window", "options", "message"),
    [
        ((0, 8, 8, 16), WINDOW, {}, "images must be at least 1, not 0"),
        ((1, 8, 8, 0), WINDOW, {}, "a convolution must be of 1 or more channels in one group, not 0 in 1"),
        (SHAPE, WINDOW, {"fill": 256}, "fill must be a byte, -128 to 255, not 256"),
        (SHAPE, WINDOW, {"pixel_stride": 15}, r"pixel_stride must be 16 to 2\^32 - 1 bytes, not 15"),
        (SHAPE, WINDOW, {"line_stride": -1}, r"line_stride must be 0 to 2\^32 - 1 bytes, not -1"),
        (SHAPE, WINDOW, {"image_stride": 1 << 32}, r"image_stride must be 0 to 2\^32 - 1 bytes, not 4294967296"),
        ((1, 300, 1, 1), Window(kernel=(256, 1)), {}, "kernel must be at most 255 by 255, not 256 by 1"),
        (
            SHAPE,
            WINDOW.__class__(kernel=(1, 1), strides=(1, 256)),
            {},
            "strides must be at most 255 by 255, not 1 by 256",
        ),
        (
            (1, 999, 1, 1),
            Window(kernel=(2, 1), dilations=(300, 1)),
            {},
            "dilations must be at most 255 by 255, not 300",
        ),
        ((1, 1, 40_000, 1), Window(kernel=(1, 1)), {}, "width must be at most 32768 .* not 40000 with 0, and 0"),
        ((1, 8, 8, 1), Window(kernel=(1, 1), pads=(32769, 0, 0, 0)), {}, "height .* not 8 with 0, and 32769"),
        ((1, 8, 8, 1), Window(kernel=(1, 1), pads=(0, 0, 32768, 0)), {}, "height .* not 8 with 32768, and 0"),
    ],
)
def test_maps_that_the_fields_cannot_say(shape, window, options, message):
    with pytest.raises(ValueError, match=message):
        Maps.of(shape, window, **options)


def test_groups_are_maps_of_their_own():
    windows = ImageWindow(window=WINDOW, image=(8, 8), channels=16, groups=2)
    with pytest.raises(ValueError, match="in one group, not 16 in 2: give each group a map of its own"):
        Maps(windows=windows)


@pytest.mark.parametrize("most", [0, -1])
def test_parts_have_rows(most):
    with pytest.raises(ValueError, match=f"most must be at least 1, not {most}"):
        next(parts(Maps.of(SHAPE, WINDOW), most))


def listed(a, maps, address=64, config=EngineConfig(), times=1):  # noqa: B008 it is frozen
    b, zeros = np.zeros((a.shape[1], 2), np.int8), np.zeros(2, np.int8)
    job = Job(a=a, b=b, a_zero_point=np.int8([0]), b_zero_point=zeros, bias=np.zeros(2, np.int32))
    place = Placement(a=address, a_stride=0, b=0, b_stride=None, y=0, y_stride=8, a_map=maps)
    return command_list([job] * times, [place] * times, config, 8)


@pytest.mark.parametrize(
    ("shape", "address", "message"),
    [
        ((63, 144), 64, r"A of these maps must be \[64, 144\], not \[63, 144\]"),
        ((64, 143), 64, r"A of these maps must be \[64, 144\], not \[64, 143\]"),
        ((64, 144), -1, "a must be from 0 to 4294967295, not -1"),
        ((64, 144), (1 << 32) - 1023, r"maps of 1024 bytes must lie within 2\^32 bytes, not at 0xfffffc01"),
    ],
)
def test_a_job_that_is_not_that_of_its_maps(shape, address, message):
    with pytest.raises(ValueError, match=message):
        listed(np.zeros(shape, np.int8), Maps.of(SHAPE, WINDOW), address)


def test_float8_has_no_bytes_that_fill_up_a_tap():
    config = EngineConfig(depth=2, a=E4M3FN, b=E4M3FN, y=E4M3FN)
    maps = Maps.of((1, 8, 8, 3), WINDOW)
    with pytest.raises(ValueError, match="channels must be a multiple of depth 2 for float8, not 3"):
        maps.check(config, maps.rows, maps.k(config), 0)


def test_b_lies_tiled_where_the_engine_has_a_depth():
    assert b_walk(EngineConfig(), 16, 5, 6, 64, 8).row_stride == 8
    with pytest.raises(ValueError, match="B must lie tiled for an engine of depth 2, not row by row"):
        b_walk(EngineConfig(depth=2), 16, 5, 6, 64, 8)


def test_maps_are_padded_with_zeros_where_nothing_else_is_said():
    assert (Maps.of(SHAPE, WINDOW).fill, Maps.of(SHAPE, WINDOW, 7).fill) == (0, 7)


def test_a_list_says_that_a_walk_goes_over_maps():
    """Ten words more than that of a matrix: a header and the registers of the map."""
    a, maps = np.zeros((64, 144), np.int8), Maps.of(SHAPE, WINDOW)
    assert len(listed(a, maps).words) == len(listed(a, None).words) + 10


def test_settings_that_stay_are_written_once():
    """Of another job that is the same a wait, its place in the queue, and its settings in the engine are left."""
    a, maps = np.zeros((64, 144), np.int8), Maps.of(SHAPE, WINDOW)
    once, twice, thrice = (len(listed(a, maps, times=times).words) for times in (1, 2, 3))
    assert twice - once == 4 + 2 + 6 * 2
    assert thrice - twice == twice - once + 4  # and one for the job before the last


@pytest.mark.parametrize(
    ("channels", "kernel", "n", "copied"),
    [
        (3, 3, 16, True),
        (1, 10, 64, True),
        (16, 3, 16, False),
        (32, 3, 32, False),
        (16, 1, 32, False),
        (3, 3, 256, False),
        (20, 3, 32, True),  # most pixels lie in three beats, where two would do
    ],
)
def test_pixels_of_few_channels_are_copied(channels, kernel, n, copied):
    """On 16 x 16 with a bus of 128 bits; not where many tiles of columns use A again."""
    maps, config = Maps.of((1, 32, 32, channels), Window(kernel=(kernel, kernel))), EngineConfig(rows=16, cols=16)
    assert is_copied(maps, config, 16, n) == copied
