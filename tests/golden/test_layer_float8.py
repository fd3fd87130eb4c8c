"""Layers of float8: what qlinear_matmul gives, from every way of naming the formats; what is refused."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, FLOAT8, INT8, Float8Format, MatMulLayer, qlinear_matmul
from systoliq.golden.float8_requantization import Float8Requantization

K, N = 5, 3
SCALES = np.float32([1, 0.3, 2.0**-10])


def fields(formats=(E4M3FN, E5M2, E4M3FN), **changes):
    rng = np.random.default_rng(0)
    formats = dict(zip(("a_format", "b_format", "y_format"), formats, strict=True))
    scales = {"a_scale": 0.5, "b_scale": SCALES, "y_scale": 3.0}
    zero_points = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    weights = rng.integers(0, 256, (K, N)).astype(np.uint8)
    return {"b": weights, **scales, **zero_points, **formats, **changes}


def rows(m=40):
    return np.random.default_rng(1).integers(0, 256, (m, K)).astype(np.uint8)


def product(layer, a):
    """By the operator."""
    zeros = [np.zeros((), form.dtype) for form in (layer.a_format, layer.b_format, layer.y_format)]
    a = a.view(layer.a_format.dtype)
    return qlinear_matmul(
        a, layer.a_scale, zeros[0], layer.b, layer.b_scale, zeros[1], np.float32(layer.y_scale), zeros[2]
    )


@pytest.mark.parametrize(("a", "b", "y"), list(itertools.product(FLOAT8, FLOAT8, FLOAT8)), ids=str)
def test_golden_and_constants_are_the_operators(a, b, y):
    layer = MatMulLayer(**fields((a, b, y)))
    expected = product(layer, rows())
    np.testing.assert_array_equal(layer.golden(rows()), expected)
    requantization = Float8Requantization.from_scales(layer.scale, y)
    np.testing.assert_array_equal(requantization.apply(layer.exact_sums(rows())), expected)
    assert Float8Format.of(layer.golden(rows()).dtype) == y


def test_formats_come_from_types_too(tmp_path):
    plain = MatMulLayer(**fields())
    typed = fields(a_format=None, b_format=None, y_format=None)
    typed["b"] = typed["b"].view(ml_dtypes.float8_e5m2)
    for letter, dtype in (("a", "float8_e4m3fn"), ("b", "float8_e5m2"), ("y", "float8_e4m3fn")):
        typed[f"{letter}_zero_point"] = np.zeros((), getattr(ml_dtypes, dtype))
    layer = MatMulLayer(**typed)
    np.savez(tmp_path / "layer.npz", **layer.arrays())
    for each in (layer, MatMulLayer.load(tmp_path / "layer.npz")):
        assert (each.a_format, each.b_format, each.y_format) == (E4M3FN, E5M2, E4M3FN)
        np.testing.assert_array_equal(each.golden(rows().view(ml_dtypes.float8_e4m3fn)), plain.golden(rows()))
    assert layer.golden(rows()[0]).shape == (N,)


def test_real_numbers_become_codes():
    layer = MatMulLayer(**fields())
    np.testing.assert_array_equal(layer.quantize([[0.5, -0.25, 1e9, 0, 1]]), [[0x38, 0xB0, 0x7E, 0, 0x40]])


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        (
            {"formats": (INT8, E5M2, E4M3FN)},
            ValueError,
            "must all be float8 or all be integers, not int8, float8_e5m2, float8_e4m3fn",
        ),
        (
            {"formats": (E4M3FN, E5M2, INT8)},
            ValueError,
            "must all be float8 or all be integers, not float8_e4m3fn, float8_e5m2, int8",
        ),
        ({"bias": np.zeros(N, np.int32)}, ValueError, "bias must be None for float8"),
        ({"a_zero_point": np.uint8(0x38)}, ValueError, "a_zero_point must be 0, as it is float8_e4m3fn"),
        ({"b": np.zeros((K, N), np.int8)}, TypeError, "b must have the type float8_e5m2, or be its codes as uint8"),
        ({"a_scale": 2.0**-100, "y_scale": 2.0**100}, ValueError, "must not underflow to 0"),
    ],
)
def test_refused(changes, error, text):
    with pytest.raises(error, match=text):
        MatMulLayer(**fields(**changes))


def test_integers_and_float8_are_asked_for_different_sums():
    layer = MatMulLayer(**fields())
    for ask in (lambda: layer.accumulate(rows()), layer.accumulator_range, lambda: layer.centered_b):
        with pytest.raises(TypeError, match="must be asked of a layer of integers, not of float8_e4m3fn"):
            ask()
    integers = np.zeros((K, N), np.int8)
    plain = {"a_zero_point": np.int8(0), "b_zero_point": np.int8(0), "y_zero_point": np.int8(0)}
    scales = {"a_scale": 1.0, "b_scale": 1.0, "y_scale": 1.0}
    with pytest.raises(TypeError, match="exact_sums must be asked of a layer of float8, not of int8"):
        MatMulLayer(b=integers, **plain, **scales).exact_sums(np.zeros((1, K), np.int8))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_constants_need_positive_finite_scales(scale):
    with pytest.raises(ValueError, match="scale must be positive and finite"):
        Float8Requantization.from_scales(np.float32(scale), E5M2)
