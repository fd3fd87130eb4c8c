"""Tensors: what their integers count, by rationals, the order of their elements, and arrays that are none of theirs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.golden.limits import TENSOR_ELEMENTS
from systoliq.golden.network import Tensor

NAN, INF = float("nan"), float("inf")


def tensor(*shape, form=INT8, scale=0.5, zero_point=3, **more):
    return Tensor(name="x", shape=shape, format=form, scale=np.float32(scale), zero_point=zero_point, **more)


@pytest.mark.parametrize("form", [INT8, UINT8, IntFormat(4, signed=True), IntFormat(3, signed=False)], ids=str)
@pytest.mark.parametrize("scale", [0.5, 0.1, 3.0])
def test_integers_are_the_nearest_and_back(form, scale):
    """float32's quotient to the nearest integer, half to even, then the zero point, within the format."""
    of = tensor(1, 4, form=form, scale=scale, zero_point=form.max - 1)
    step = np.float32(scale)
    x = np.concatenate([np.arange(-300, 300) * step / np.float32(4), np.float32([1e30, -1e30])]).astype(np.float32)
    wanted = [min(max(round(Fraction(float(each / step))) + form.max - 1, form.min), form.max) for each in x]
    found = of.quantize(x)
    assert found.tolist() == wanted
    assert found.dtype == form.dtype
    real = of.dequantize(of.codes)
    assert real.dtype == np.float32
    assert real.tolist() == [float(np.float32(code - (form.max - 1)) * step) for code in range(form.min, form.max + 1)]


def test_what_is_no_number_is_the_least():
    of = tensor(3)
    assert of.quantize([NAN, INF, -INF]).tolist() == [-128, 127, -128]
    assert tensor(3, scale=3e38).dequantize(np.int8([127, -128, 3])).tolist() == [INF, -INF, 0]


@pytest.mark.parametrize("form", [INT8, IntFormat(4, signed=True), IntFormat(5, signed=False)], ids=str)
def test_codes_are_all_integers_in_rising_order(form):
    codes = tensor(1, form=form).codes
    assert codes.tolist() == list(range(form.min, form.max + 1))
    assert codes.dtype == form.dtype


@pytest.mark.parametrize(
    ("shape", "pixels", "channels"),
    [
        ((), 1, 1), ((5,), 1, 1), ((1, 5), 1, 5), ((1, 3, 5), 3, 5), ((1, 2, 3, 4), 12, 2), ((1, 2, 3, 4, 5), 24, 5),
        ((7, 2, 3, 4), 12, 2),
    ],
)  # fmt: skip
def test_pixels_and_channels(shape, pixels, channels):
    of = tensor(*shape)
    assert (of.pixels, of.channels) == (pixels, channels)


@pytest.mark.parametrize("shape", [(1, 5), (1, 3, 5), (1, 2, 3, 4), (1, 1, 1, 1)])
@pytest.mark.parametrize("batch", [1, 3])
def test_streams_hold_pixel_after_pixel(shape, batch):
    of = tensor(*shape)
    array = np.arange(batch * int(np.prod(shape))).reshape(batch, *shape[1:])
    streamed = of.raster(array)
    assert streamed.shape == (batch, of.pixels, of.channels)
    for n, pixel, channel in np.ndindex(*streamed.shape):
        at = (channel, *divmod(pixel, shape[3])) if len(shape) == 4 else (pixel, channel)[-(len(shape) - 1) :]
        assert streamed[n, pixel, channel] == array[(n, *at)]
    np.testing.assert_array_equal(of.unraster(streamed), array)


def test_arrays_of_any_batch():
    of = tensor(1, 2, 3)
    for batch in (1, 4):
        array = np.zeros((batch, 2, 3), np.int8)
        assert of.check(array) is array
    narrow = tensor(1, 2, form=IntFormat(4, signed=True))
    ends = np.int8([[-8, 7]])
    assert narrow.check(ends) is ends


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        (np.zeros((1, 2, 3), np.uint8), TypeError, "x must be of int8, not of uint8"),
        (np.zeros((2, 3), np.int8), ValueError, r"x must have the shape \['batch', 2, 3\], not \[2, 3\]"),
        (np.zeros((1, 3, 2), np.int8), ValueError, r"x must have the shape \['batch', 2, 3\], not \[1, 3, 2\]"),
        (np.zeros((1, 2, 3, 1), np.int8), ValueError, r"x must have the shape \['batch', 2, 3\], not \[1, 2, 3, 1\]"),
    ],
)
def test_arrays_of_another_tensor(array, error, text):
    with pytest.raises(error, match=f"^{text}$"):
        tensor(1, 2, 3).check(array)


def test_arrays_beyond_a_narrow_format():
    with pytest.raises(ValueError, match=r"^x must hold int4 \(-8 to 7\), not 8$"):
        tensor(1, 2, form=IntFormat(4, signed=True)).check(np.int8([[-8, 8]]))


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, True),
        ({"shape": (2, 2)}, True),
        ({"format": UINT8}, False),
        ({"scale": 0.25}, False),
        ({"zero_point": 4}, False),
    ],
)
def test_what_counts_alike(fields, counts):
    one = tensor(1, 4)
    assert one.counts_as(one.replace(name="y", **fields)) is counts


def test_values_are_kept_apart_and_read_only():
    given = np.int8([1, 2])
    of = tensor(2, value=given)
    given[:] = 9
    assert of.value.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        of.value[0] = 3
    assert tensor(2).value is None


def test_fields_have_types_of_their_own():
    of = Tensor(name="x", shape=(np.int64(2), np.int64(3)), format=INT8, scale=1, zero_point=np.int8(4))
    assert (of.shape, [type(size) for size in of.shape]) == ((2, 3), [int, int])
    assert (type(of.zero_point), type(of.scale)) == (int, np.float32)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": 3}, "the name of a tensor must be a str that is not empty, not 3"),
        ({"name": ""}, "the name of a tensor must be a str that is not empty, not ''"),
        ({"shape": (1, 0)}, r"tensor 'x' must have dimensions of at least 1, not \[1, 0\]"),
        ({"shape": (2, TENSOR_ELEMENTS)}, rf"tensor 'x' must have at most {TENSOR_ELEMENTS} elements, not the shape"),
        ({"format": IntFormat(9, signed=True)}, "tensor 'x' must be of int8 or uint8, not of int9"),
        ({"format": "int8"}, "tensor 'x' must be of int8 or uint8, not of int8"),
        ({"scale": 0.0}, "tensor 'x' must have a positive, finite scale, not 0.0"),
        ({"scale": INF}, "tensor 'x' must have a positive, finite scale, not inf"),
        ({"scale": NAN}, "tensor 'x' must have a positive, finite scale, not nan"),
        ({"scale": -1.0}, "tensor 'x' must have a positive, finite scale, not -1.0"),
        ({"zero_point": 128}, "tensor 'x' must have a zero point in int8, not 128"),
        ({"value": np.zeros(4, np.int8)}, r"tensor 'x' must have a value of int8 \[1, 4\], not int8 \[4\]"),
        ({"value": np.zeros((1, 4), np.uint8)}, r"tensor 'x' must have a value of int8 \[1, 4\], not uint8 \[1, 4\]"),
    ],
)
def test_what_is_no_tensor(fields, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        tensor(1, 4).replace(**fields)


def test_the_largest_tensor():
    assert tensor(1, TENSOR_ELEMENTS).pixels == 1


def test_channels_second_of_three_dimensions():
    tensor = Tensor(name="t", shape=(1, 2, 3), format=INT8, scale=np.float32(1), zero_point=0, channels_second=True)
    assert (tensor.channels, tensor.pixels, tensor.columns) == (2, 3, 3)
    array = np.arange(12, dtype=np.int8).reshape(2, 2, 3)
    np.testing.assert_array_equal(tensor.raster(array)[0], [[0, 3], [1, 4], [2, 5]])
    np.testing.assert_array_equal(tensor.unraster(tensor.raster(array)), array)
    with pytest.raises(ValueError, match=r"must have three dimensions for channels_second, not the shape \[1, 6\]"):
        tensor.replace(shape=(1, 6))
