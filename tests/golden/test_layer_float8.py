"""Layers with float8, beside integers too: what qlinear_matmul gives, ways of naming formats; what is refused."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, FLOAT8, INT8, UINT8, MatMulLayer, qlinear_matmul
from systoliq.golden.float8_requantization import EXPONENTS, Float8Requantization

K, N = 5, 3
MIXES = [mix for mix in itertools.product((*FLOAT8, INT8, UINT8), repeat=3) if set(mix) & set(FLOAT8)]
POINTS = {"a_zero_point": 5, "b_zero_point": 100, "y_zero_point": 3}  # of integers
SCALES = np.float32([1, 0.3, 2.0**-10])


def fields(formats=(E4M3FN, E5M2, E4M3FN), **changes):
    rng = np.random.default_rng(0)
    formats = dict(zip(("a_format", "b_format", "y_format"), formats, strict=True))
    scales = {"a_scale": 0.5, "b_scale": SCALES, "y_scale": 3.0}
    zero_points = {
        key: 0 if form in FLOAT8 else POINTS[key] for key, form in zip(POINTS, formats.values(), strict=True)
    }
    weights = rng.integers(0, 256, (K, N)).astype(np.uint8).view(formats["b_format"].dtype)
    return {"b": weights, **scales, **zero_points, **formats, **changes}


def rows(m=40, form=E4M3FN):
    return np.random.default_rng(1).integers(0, 256, (m, K)).astype(np.uint8).view(form.dtype)


def product(layer, a):
    """By the operator."""
    a_zero, y_zero = (
        np.array(point, np.uint8 if form in FLOAT8 else form.dtype).view(form.dtype)
        for point, form in ((layer.a_zero_point, layer.a_format), (layer.y_zero_point, layer.y_format))
    )
    scales = layer.a_scale, layer.b_scale, np.float32(layer.y_scale)
    return qlinear_matmul(a, scales[0], a_zero, layer.b, scales[1], layer.b_zero_point, scales[2], y_zero)


@pytest.mark.parametrize(("a", "b", "y"), MIXES, ids=str)
def test_golden_and_constants_are_the_operators(a, b, y):
    typical_a, typical_b, typical_y = (4.0 if form in FLOAT8 else 60.0 for form in (a, b, y))
    layer = MatMulLayer(**fields((a, b, y), y_scale=typical_a * typical_b / typical_y))
    given = rows(form=a)
    expected = product(layer, given)
    np.testing.assert_array_equal(layer.golden(given), expected, strict=True)
    requantization = Float8Requantization.from_scales(layer.scale, y, layer.y_zero_point)
    np.testing.assert_array_equal(requantization.apply(layer.exact_sums(given)), expected, strict=True)
    assert len(np.unique(expected.view(np.uint8))) > 4
    assert layer.canonical is layer


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
            {"formats": (INT8, E5M2, INT8), "y_scale": None, "y_zero_point": None, "y_format": None},
            ValueError,
            "y_scale and y_zero_point must be given for int8 x float8_e5m2: only sums of integers are int32",
        ),
        (
            {"formats": (INT8, INT8, E5M2), "a_scale": np.inf},
            ValueError,
            "a_scale must be positive and finite, not inf",
        ),
        ({"bias": np.zeros(N, np.int32)}, ValueError, "bias must be None for float8"),
        ({"a_zero_point": np.uint8(0x38)}, ValueError, "a_zero_point must be 0, as it is float8_e4m3fn"),
        ({"b": np.zeros((K, N), np.int8)}, TypeError, "b must have the type float8_e5m2, or be its codes as uint8"),
        ({"a_scale": 2.0**-100, "y_scale": 2.0**100}, ValueError, "must not underflow to 0"),
        (
            {"a_scale": 2.0**100, "y_scale": 2.0**-100},
            ValueError,
            r"a_scale \* b_scale / y_scale must be finite in float32, not inf \(column 0\)",
        ),
    ],
)
def test_refused(changes, error, text):
    with pytest.raises(error, match=text):
        MatMulLayer(**fields(**changes))


def test_integers_and_float8_are_asked_for_different_sums():
    layer = MatMulLayer(**fields())
    asked = {
        "accumulate": lambda: layer.accumulate(rows()),
        "accumulator_range": layer.accumulator_range,
        "centered_b": lambda: layer.centered_b,
    }
    for name, ask in asked.items():
        with pytest.raises(TypeError, match=f"{name} must be asked of a layer of integers, not of float8_e"):
            ask()
    integers = np.zeros((K, N), np.int8)
    plain = {"a_zero_point": np.int8(0), "b_zero_point": np.int8(0), "y_zero_point": np.int8(0)}
    scales = {"a_scale": 1.0, "b_scale": 1.0, "y_scale": 1.0}
    with pytest.raises(TypeError, match="exact_sums must be asked of a layer of float8, not of int8"):
        MatMulLayer(b=integers, **plain, **scales).exact_sums(np.zeros((1, K), np.int8))


def test_exponents_are_those_of_float32():
    """And no others: lanes are made for them."""
    least, most = (float(each) for each in (np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max))
    made = Float8Requantization.from_scales(np.float32([least, most]), E5M2)
    assert made.exponent == (min(EXPONENTS), max(EXPONENTS))
    assert made.zero_point == 0
    np.testing.assert_array_equal(made.scale, np.float32([least, most]))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_constants_need_positive_finite_scales(scale):
    with pytest.raises(ValueError, match="scale must be positive and finite"):
        Float8Requantization.from_scales(np.float32(scale), E5M2)
