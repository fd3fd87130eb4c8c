"""Layers with odd scales against onnxruntime, and their canonical layers, which give the same results."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import MatMulLayer
from systoliq.golden.formats import IntFormat

from .in_onnxruntime import run

NAN, INF = float("nan"), float("inf")
SCALES = {
    "negative": [0.1, -0.1, 3e-3, -0.02, -1e-9],
    "zero": [0.1, 0.0, -0.0, 1e-45, -1e-45],
    "NaN": [0.1, NAN, -0.1, NAN, 0.0],
    "infinite": [INF, -INF, NAN, INF, 3e38],
}
WHOLE = {  # of a and y
    "y = 0": (1.0, 0.0),
    "y = -0": (1.0, -0.0),
    "y = NaN": (1.0, NAN),
    "y = inf": (-1.0, INF),
    "y < 0": (0.3, -2.0),
    "y subnormal": (1.0, 1e-44),
    "a = NaN": (NAN, 1.0),
    "a < 0": (-0.3, 0.7),
    "both infinite": (INF, -INF),
}


def layer(b_scale, a_scale=1.0, y_scale=1.0, *, y_zero_point, bias=True, n=5):
    rng = np.random.default_rng(n)
    b = rng.integers(-128, 128, (6, n)).astype(np.int8)
    b[:, 0] = -128
    return MatMulLayer(
        b=b, a_scale=a_scale, a_zero_point=np.uint8(7), b_scale=np.float32(b_scale),
        b_zero_point=np.int8([0, -128, 127, 5, 0]), y_scale=y_scale, y_zero_point=np.uint8(y_zero_point),
        bias=rng.integers(-9999, 9999, n).astype(np.int32) if bias else None,
    )  # fmt: skip


def rows(of):
    """Inputs of 7 bits, with sums of 0 among them where there is no bias, and sums at the ends of the rows' range.

    Weights have all 8 bits: with inputs of 8 bits, onnxruntime saturates inside on processors without VNNI.
    """
    a = np.random.default_rng(1).integers(0, 128, (40, of.k)).astype(np.uint8)
    a[0], a[1], a[2] = 7, 0, 127
    return a


def check(of):
    """`of` gives onnxruntime's results, and its canonical layer, whose scales hardware takes, the same."""
    a, fields = rows(of), of.arrays()
    head = a, *(fields[name] for name in ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point"))
    tail = fields["y_scale"], fields["y_zero_point"]
    operator, domain = ("QLinearMatMul", "") if of.bias is None else ("QGemm", "com.microsoft")
    inputs = (*head, *tail) if of.bias is None else (*head, of.bias, *tail)
    np.testing.assert_array_equal(of.golden(a), run(operator, "uint8", *inputs, domain=domain), strict=True)
    assert np.isfinite(of.canonical.scale).all()
    assert not np.signbit(of.canonical.scale).any()
    np.testing.assert_array_equal(of.canonical.golden(a), of.golden(a), strict=True)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "none"])
@pytest.mark.parametrize("y_zero_point", [0, 9])
@pytest.mark.parametrize("scales", SCALES.values(), ids=SCALES)
def test_scales_of_columns(scales, y_zero_point, bias):
    of = layer(scales, y_zero_point=y_zero_point, bias=bias)
    if np.isinf(scales).any() and y_zero_point:
        with pytest.raises(
            ValueError, match=r"must be finite in float32, not inf \(column 0\), beside columns where it is"
        ):
            _ = of.canonical
        return
    check(of)


@pytest.mark.parametrize(("a_scale", "y_scale"), WHOLE.values(), ids=WHOLE)
def test_scales_of_a_and_y(a_scale, y_scale):
    for bias in (True, False):
        check(layer([0.1, 0.02, 0.3, 1e-3, 0.2], a_scale, y_scale, y_zero_point=9, bias=bias))


def test_ordinary_layers_are_left_alone():
    of = layer([0.1, 0.0, 1e-45, 3, 0.2], y_zero_point=9)
    assert of.canonical is of


@pytest.mark.parametrize("fmt", [IntFormat(4, True), IntFormat(4, False), IntFormat(16, True)], ids=str)
def test_weights_of_other_widths(fmt):
    rng = np.random.default_rng(3)
    b = rng.integers(fmt.min, fmt.max, (5, 4), endpoint=True).astype(fmt.dtype)
    of = MatMulLayer(
        b=b, a_scale=1.0, a_zero_point=np.int8(-3), b_scale=np.float32([-1, 1, NAN, -2**-6]), b_zero_point=b[0],
        y_scale=300.0, y_zero_point=np.int8(4), b_format=fmt,
    )  # fmt: skip
    a = rng.integers(-128, 128, (30, 5)).astype(np.int8)
    assert of.canonical.b_format == fmt
    np.testing.assert_array_equal(of.canonical.golden(a), of.golden(a))


@pytest.mark.parametrize(("k", "bias"), [(1, -(2**31)), (70000, 0), (1, -(2**31) + 5 * 127)])
def test_sums_without_an_opposite_are_refused(k, bias):
    of = MatMulLayer(
        b=np.full((k, 1), 127, np.int8), a_scale=1.0, a_zero_point=np.uint8(5), b_scale=-1.0, b_zero_point=np.int8(0),
        y_scale=1.0, y_zero_point=np.int8(0), bias=np.int32([bias]),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"must not be negative where sums reach -2\^31 or wrap, not -1.0 \(column 0"):
        _ = of.canonical


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_scale_of_zero_needs_no_opposite(zero):
    """Beside a column whose sums change their sign, one whose sums reach -2^31 stays as it is."""
    of = MatMulLayer(
        b=np.full((1, 2), 127, np.int8), a_scale=1.0, a_zero_point=np.uint8(5), b_scale=np.float32([-1.0, zero]),
        b_zero_point=np.int8(0), y_scale=1.0, y_zero_point=np.int8(0), bias=np.int32([7, -(2**31)]),
    )  # fmt: skip
    a = np.arange(256, dtype=np.uint8)[:, None]
    np.testing.assert_array_equal(of.canonical.b[:, 1], of.b[:, 1])
    np.testing.assert_array_equal(of.canonical.golden(a), of.golden(a))
