"""Folding: what the array is to multiply and to add gives the layer's sums, for operands at the corners too."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.layer import MatMulLayer
from systoliq.hw.folding import fold


def layer(b, zero_point, *, a_zero_point=0, bias=None):
    return MatMulLayer(
        b=b, a_scale=1.0, a_zero_point=np.uint8(a_zero_point), b_scale=1.0, b_zero_point=zero_point,
        y_scale=1.0, y_zero_point=np.int8(0), bias=bias,
    )  # fmt: skip


def check(of, bits=None):
    """The fold of layer `of`, whose sums were compared with the definition."""
    folding = fold(of, bits)
    rng = np.random.default_rng(0)
    a = rng.integers(0, 256, (20, of.k))
    a[0], a[1] = 0, 255
    weights = np.asarray(folding.weights, np.int64)
    assert folding.b_format.contains(weights)
    centered = np.asarray(of.b, np.int64) - np.asarray(of.b_zero_point, np.int64)
    wanted = (a - int(of.a_zero_point)) @ centered + (0 if of.bias is None else of.bias.astype(np.int64))
    found = a @ weights - a.sum(axis=1)[:, None] * folding.residual + folding.bias
    np.testing.assert_array_equal(found, wanted)
    assert folding.needs_row_sums == bool(np.any(folding.residual))
    return folding


@pytest.mark.parametrize("a_zero_point", [0, 3, 255])
@pytest.mark.parametrize("per_column", [True, False])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_random_layers(a_zero_point, per_column, dtype):
    rng = np.random.default_rng(a_zero_point)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for k, n in ((1, 1), (5, 3), (32, 7)):
        span = rng.integers(0, 100, n)
        least = rng.integers(low, high - 100, n)
        b = (least + rng.integers(0, span + 1, (k, n))).astype(dtype)
        zero_point = rng.integers(low, high + 1, n).astype(dtype)
        bias = rng.integers(-(1 << 20), 1 << 20, n).astype(np.int32)
        check(layer(b, zero_point if per_column else zero_point[0], a_zero_point=a_zero_point, bias=bias))


def test_zero_point_goes_into_the_weights_where_they_fit():
    b = np.array([[0, 100], [100, 227]], np.uint8)
    folding = check(layer(b, np.array([50, 100], np.uint8)))
    assert folding.b_format == INT8
    assert not folding.needs_row_sums
    np.testing.assert_array_equal(folding.weights, [[-50, 0], [50, 127]])


def test_unsigned_weights_where_only_they_need_no_row_sums():
    folding = check(layer(np.array([[10], [255]], np.uint8), np.uint8(0)))
    assert folding.b_format == UINT8
    assert not folding.needs_row_sums


def test_a_column_that_spans_more_keeps_a_residue():
    folding = check(layer(np.array([[0, 5], [255, 6]], np.uint8), np.uint8(77)))
    assert folding.needs_row_sums
    assert folding.residual[1] == 0  # of the other column


def test_narrow_multipliers_take_what_spans_no_more():
    b = np.array([[100], [115]], np.uint8)
    check(layer(b, np.uint8(101)), 4)
    with pytest.raises(ValueError, match="at least 5 for this layer, not 4: weights of column 0 span 100 to 116"):
        fold(layer(np.array([[100], [116]], np.uint8), np.uint8(101)), 4)
