"""Layers whose zero point comes with A: their sums, the reach of these, and their files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden import E4M3FN, INT32, UINT8, IntFormat, MatMulLayer, matmul_integer

RNG = np.random.default_rng(4)
A = RNG.integers(0, 256, (7, 12)).astype(np.uint8)
B = RNG.integers(-128, 128, (12, 5)).astype(np.int8)
FIELDS = {"b": B, "a_format": UINT8, "b_zero_point": B[3]}
LAYER = MatMulLayer(**FIELDS)
ROWS = RNG.integers(0, 256, 7).astype(np.uint8)


@pytest.mark.parametrize(
    "zero_point", [np.uint8(9), ROWS[:1], ROWS, ROWS[:, None], 255], ids=lambda z: str(np.shape(z))
)
def test_golden_is_matmul_integer(zero_point):
    expected = matmul_integer(A, B, np.asarray(zero_point, np.uint8), B[3])
    np.testing.assert_array_equal(LAYER.golden(A, zero_point), expected, strict=True)
    assert (LAYER.takes_zero_points, LAYER.a_zero_point, LAYER.y_format, LAYER.sum_scale) == (True, None, INT32, None)


def test_one_row_without_a_dimension():
    np.testing.assert_array_equal(LAYER.golden(A[0], ROWS[0]), LAYER.golden(A, ROWS)[0], strict=True)


@pytest.mark.parametrize("bias", [None, np.array([1000, -7, 0], np.int32)], ids=["plain", "bias"])
@pytest.mark.parametrize("name", ["uint2", "int2"])
def test_the_reach_is_that_of_all_inputs_and_zero_points(name, bias):
    form = IntFormat.parse(name)
    values = np.arange(form.min, form.max + 1)
    b = np.array([[1, -2, 3], [1, 2, 0], [-2, -1, 1]], np.int8)
    layer = MatMulLayer(b=b, a_format=form, b_zero_point=np.array([0, 1, -1], np.int8), bias=bias)
    inputs = np.array(list(itertools.product(values, repeat=3)), form.dtype)
    sums = np.concatenate([layer.golden(inputs, int(zero_point)) for zero_point in values])
    low, high = layer.accumulator_range()
    assert (low.tolist(), high.tolist()) == (sums.min(axis=0).tolist(), sums.max(axis=0).tolist())


@pytest.mark.parametrize(
    "more", [{}, {"b_scale": np.float32(0.5)}, {"bias": np.arange(5, dtype=np.int32)}], ids=lambda more: str(list(more))
)
def test_files_give_the_layer_back(more, tmp_path):
    layer = MatMulLayer(**FIELDS | more)
    np.savez(tmp_path / "layer.npz", **layer.arrays())
    assert set(layer.arrays()) == set(FIELDS | more)
    again = MatMulLayer.load(tmp_path / "layer.npz")
    assert again.takes_zero_points
    np.testing.assert_array_equal(again.golden(A, ROWS), layer.golden(A, ROWS))
    if "b_scale" in more:
        assert again.b_scale.tolist() == [0.5] * 5


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"a_format": None}, "a_zero_point must be given, or a_format, of integers .* run time, not None"),
        ({"a_format": E4M3FN}, "a_zero_point must be given, or a_format, of integers .* not float8_e4m3fn"),
        ({"a_scale": 1.0}, "a_scale cannot be given without a_zero_point: both come at run time"),
        ({"y_scale": 1.0}, "a_zero_point must be given: only int32 sums may have one that comes at run time"),
        ({"b_scale": -1.0}, "b_scale must be positive"),
    ],
)
def test_bad_fields_are_named(changes, text):
    with pytest.raises(ValueError, match=text):
        MatMulLayer(**FIELDS | changes)


@pytest.mark.parametrize(
    ("zero_point", "kind", "text"),
    [
        (None, ValueError, "a_zero_point must be given with a"),
        (np.int8(3), TypeError, "a_zero_point must have the type uint8, not int8"),
        (256, ValueError, "a_zero_point must be in uint8, 0 to 255, not 256"),
        (ROWS[:6], ValueError, r"a_zero_point must be a scalar or \[7\] or \[7, 1\] .* not of shape \[6\]"),
    ],
)
def test_bad_zero_points_are_named(zero_point, kind, text):
    with pytest.raises(kind, match=text):
        LAYER.golden(A, zero_point)


def test_layers_with_a_zero_point_take_no_other(tmp_path):
    layer = MatMulLayer(b=B, a_zero_point=np.uint8(3), b_zero_point=np.int8(0))
    with pytest.raises(ValueError, match="a_zero_point must not be given: the layer's own is 3"):
        layer.golden(A, ROWS)
    np.savez(tmp_path / "bad.npz", b=B, a_format="float3", b_zero_point=np.int8(0))
    with pytest.raises(ValueError, match=r"bad.npz: format name must be like 'int8'"):
        MatMulLayer.load(tmp_path / "bad.npz")
