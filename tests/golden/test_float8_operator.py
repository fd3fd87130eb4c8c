"""qlinear_matmul with float8 as an operator: shapes, parameters, storage, errors, and what the text leaves open."""

import itertools
import warnings

import float8_oracle as oracle
import ml_dtypes
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8, qlinear_matmul

ONE = np.float32(1)
INF, NAN = np.float32(np.inf), np.float32(np.nan)
formats = pytest.mark.parametrize("form", FLOAT8, ids=str)

SHAPES = [
    ((3,), (3,)),
    ((4, 3), (3,)),
    ((3,), (3, 5)),
    ((2, 4, 3), (3, 5)),
    ((2, 1, 4, 3), (6, 3, 5)),
    ((0, 3), (3, 5)),
    ((4, 0), (0, 5)),
    ((2, 0, 4, 3), (3, 0)),
    ((3, 3), (3, 3)),
]


@pytest.mark.parametrize("per", ["tensor", "one", "vector", "full"])
@pytest.mark.parametrize(("a_shape", "b_shape"), SHAPES, ids=str)
def test_shapes_and_parameters(a_shape, b_shape, per):
    """Small integers and scales that are powers of two: numpy's float64 is exact, so that it is the reference."""
    rng = np.random.default_rng(len(a_shape) * 10 + len(b_shape))
    a, b = (rng.integers(-4, 5, shape).astype(np.float64) for shape in (a_shape, b_shape))

    def shapes(shape, axis):
        if per == "vector" and len(shape) == 2:
            return shape[0:1] if axis == "row" else shape[1:2]
        if per == "full" and len(shape) > 1:
            return (*shape[:-1], 1) if axis == "row" else (*shape[:-2], 1, shape[-1])
        return (1,) if per == "one" else ()

    forms = shapes(a_shape, "row"), shapes(b_shape, "column")
    a_scale, b_scale = (np.exp2(rng.integers(-2, 3, form)).astype(np.float32) for form in forms)
    rows = a_scale[:, np.newaxis] if len(a_shape) == 2 and a_scale.shape == a_shape[:1] else a_scale
    result = np.matmul(a * (rows if per != "one" else rows.reshape(())), b * b_scale) / 4
    expected = result.astype(np.float32).astype(ml_dtypes.float8_e5m2)
    a_codes, b_codes = a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e4m3fnuz)
    zeros = np.zeros_like(a_scale, ml_dtypes.float8_e4m3fn), np.zeros_like(b_scale, ml_dtypes.float8_e4m3fnuz)
    y_zero = np.zeros((1,) if per == "one" else (), ml_dtypes.float8_e5m2)
    y = qlinear_matmul(a_codes, a_scale, zeros[0], b_codes, b_scale, zeros[1], np.float32(4), y_zero)
    assert y.dtype == ml_dtypes.float8_e5m2
    assert y.shape == expected.shape
    np.testing.assert_array_equal(y.view(np.uint8), np.asarray(expected).view(np.uint8))


@formats
def test_codes_without_ml_dtypes(form):
    """Arrays of `Float8Format.dtype`, and of what a file makes of it, give the same codes, in the storage of y's zero
    point.
    """
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 256, (9, 4)).astype(np.uint8), rng.integers(0, 256, (4, 7)).astype(np.uint8)
    results = []
    of_files = np.dtype([(form.name, np.uint8)])
    for dtype, y_dtype in itertools.product((form.dtype, oracle.dtype(form.name), of_files), repeat=2):
        zero, y_zero = np.zeros((), dtype), np.zeros((), y_dtype)
        y = qlinear_matmul(a.view(dtype), ONE, zero, b.view(dtype), ONE, zero, ONE, y_zero)
        assert (y.dtype.names, y.dtype.name) == (y_dtype.names, y_dtype.name)
        results.append(y.view(np.uint8))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def product(form, a, b, scale=ONE):
    """The code of the sum of a * b, codes [K], at `scale`, in the format of the operands; no warning may come."""
    zero = np.zeros((), form.dtype)
    a, b = (np.array(codes, np.uint8).view(form.dtype) for codes in (a, b))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return qlinear_matmul(a, scale, zero, b, ONE, zero, ONE, zero).view(np.uint8).item()


@formats
def test_what_the_text_leaves_open(form):
    one, nan, great, small = form.encode(ONE).item(), form.nan_code, form.max_code, 1
    minus = one | 0x80
    assert product(form, [], []) == 0
    assert product(form, [one, one], [one, minus]) == 0, "an exact zero is positive"
    assert product(form, [0], [minus]) == 0
    assert product(form, [one], [one], np.float32(-0.0)) == 0
    assert product(form, [great], [great]) == great, "overflow saturates"
    assert product(form, [great], [great | 0x80]) == great | 0x80
    assert product(form, [small], [small | 0x80]) == (0 if form.fnuz else 0x80), "what rounds to 0 keeps its sign"
    assert product(form, [small], [one], np.float32(0.5)) == 0, "a tie goes to even"
    assert product(form, [3], [one], np.float32(0.5)) == 2
    assert product(form, [small], [one], np.nextafter(np.float32(0.5), ONE)) == 1
    for a, b in (([nan], [one]), ([nan], [0]), ([one, nan], [one, 0])):
        assert product(form, a, b) == product(form, b, a) == nan
    assert product(form, [one], [one], NAN) == product(form, [0], [one], INF) == nan
    assert product(form, [one], [one], INF) == product(form, [minus], [one], -INF) == great
    assert product(form, [one], [minus], INF) == great | 0x80
    assert product(form, [nan], [one], np.float32(0)) == nan


@pytest.mark.parametrize("nan", [0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF])
def test_every_nan_of_e5m2_gives_one(nan):
    assert product(E5M2, [nan], [0x3C]) == 0x7F


def test_infinities_of_e5m2():
    plus, minus, one, great = 0x7C, 0xFC, 0x3C, 0x7B
    assert product(E5M2, [plus, one], [one, one]) == product(E5M2, [plus], [plus]) == great
    assert product(E5M2, [minus, great], [one, great]) == product(E5M2, [plus], [minus]) == great | 0x80
    assert product(E5M2, [plus, minus], [one, one]) == E5M2.nan_code
    assert product(E5M2, [plus, plus], [one, one | 0x80]) == E5M2.nan_code
    assert product(E5M2, [plus], [0]) == product(E5M2, [0x80], [minus]) == E5M2.nan_code
    assert product(E5M2, [plus], [one], np.float32(0)) == E5M2.nan_code
    assert product(E5M2, [plus], [one], np.float32(-1e-30)) == great | 0x80


def test_integers_mix_with_float8():
    a, b = np.array([[130, 127]], np.uint8), np.array([[1.5], [0.25]], ml_dtypes.float8_e4m3fn)
    inputs = a, ONE, np.uint8(128), b, ONE, ml_dtypes.float8_e4m3fn(0), np.float32(0.5)
    assert qlinear_matmul(*inputs, np.int8(-3)).tolist() == [[3]]  # 5.5 rounds to 6
    assert qlinear_matmul(*inputs, ml_dtypes.float8_e5m2(0)).astype(np.float32).tolist() == [[6.0]]  # a tie to even
    for value, least in ((np.nan, -128), (448, 127), (-448, -128)):
        b[0] = value
        assert qlinear_matmul(*inputs[:6], np.float32(1e-3), np.int8(-3)).tolist() == [[least]]


def test_integer_operands_wrap_before_a_float8_result_too():
    k = 33026  # as matmul_integer: the first K at which 255 * 255 * K passes 2^31 - 1
    a, b = np.full((1, k), 255, np.uint8), np.full((k, 1), 255, np.uint8)
    y = qlinear_matmul(a, ONE, np.uint8(0), b, ONE, np.uint8(0), np.float32(2**31), ml_dtypes.float8_e5m2(0))
    assert y.astype(np.float32).tolist() == [[-1.0]]


GOOD = {
    "a": np.zeros((2, 3), ml_dtypes.float8_e4m3fn),
    "a_scale": ONE,
    "a_zero_point": ml_dtypes.float8_e4m3fn(0),
    "b": np.zeros((3, 4), ml_dtypes.float8_e5m2),
    "b_scale": ONE,
    "b_zero_point": ml_dtypes.float8_e5m2(0),
    "y_scale": ONE,
    "y_zero_point": ml_dtypes.float8_e4m3fnuz(0),
}
BAD = [
    ({"a_zero_point": ml_dtypes.float8_e4m3fn(1)}, ValueError, "a_zero_point must be 0, as .* not the code 0x38"),
    ({"b_zero_point": ml_dtypes.float8_e5m2(np.inf)}, ValueError, "b_zero_point must be 0, .* not the code 0x7c"),
    ({"y_zero_point": ml_dtypes.float8_e4m3fnuz(np.nan)}, ValueError, "y_zero_point must be 0, .* not the code 0x80"),
    (
        {"b_zero_point": np.array([0, 0, 0, 2], ml_dtypes.float8_e5m2)},
        ValueError,
        "b_zero_point must be 0, as it is float8_e5m2, not the code 0x40",
    ),
    (
        {"a_zero_point": ml_dtypes.float8_e5m2(0)},
        TypeError,
        "a_zero_point must be float8_e4m3fn as a is, not",
    ),
    ({"b_zero_point": np.uint8(0)}, TypeError, "b_zero_point must be float8_e5m2 as b is, not uint8"),
    ({"b": np.zeros((3, 4), np.uint8)}, TypeError, "b_zero_point must be uint8 as b is, not float8_e5m2"),
    ({"a": np.zeros((2, 3), ml_dtypes.float8_e3m4)}, TypeError, "a must be int8, uint8 or one of .*, not float8_e3m4"),
    ({"a": np.zeros((2, 3), ml_dtypes.float8_e4m3)}, TypeError, "a must be int8, .*float8_e5m2fnuz, not float8_e4m3$"),
    ({"y_zero_point": ml_dtypes.float8_e8m0fnu(1)}, TypeError, "y_zero_point must be .*, not float8_e8m0fnu"),
    ({"y_zero_point": np.zeros(4, ml_dtypes.float8_e5m2)}, ValueError, r"y_zero_point must be a scalar .* shape \[4\]"),
    (
        {"a_zero_point": np.zeros(3, ml_dtypes.float8_e4m3fn)},
        ValueError,
        r"a_zero_point .* for a of shape \[2, 3\], not of shape \[3\]",
    ),
    (
        {"a_scale": np.float32([1, 1e-30]), "b_scale": np.float32(1e-20)},
        ValueError,
        r"a_scale \* b_scale / y_scale must not underflow to 0 in float32, not 1.*e-30 \* 9.*e-21 / 1.0",
    ),
    (
        {"a_scale": np.float32(1e-30), "y_scale": np.float32(1e30)},
        ValueError,
        r"must not underflow to 0 in float32, not 1.*e-30 \* 1.0 / 1.*e\+30",
    ),
]


@pytest.mark.parametrize(("change", "error", "text"), BAD)
def test_errors(change, error, text):
    with pytest.raises(error, match=text):
        qlinear_matmul(**{**GOOD, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"a_zero_point": ml_dtypes.float8_e4m3fn(-0.0)},
        {"a_scale": np.float32(0)},
        {"b_scale": np.float32([0, 1, 1e-20, 1])},
        {"y_scale": INF},
        {"a_scale": np.float32(1e-45)},
    ],
    ids=str,
)
def test_not_errors(change):
    assert not qlinear_matmul(**{**GOOD, **change}).view(np.uint8).any()


def test_greatest_values():
    """The formats' extremes meet where accumulators are widest: 64 products of the greatest values, one least less."""
    for form in (E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ):
        a, b = np.full(65, form.max_code, np.uint8), np.full(65, form.max_code, np.uint8)
        a[64], b[64] = 0x81, 1
        greatest = 64 * form.max_units**2 - 1
        bits = greatest.bit_length()
        # the sum is just below a power of two times a significand: in units of the result it is just below a tie
        scale = np.float32(2.0 ** -(2 * form.unit + bits - 1))
        expected = form.encode(np.float64(greatest) / 2.0 ** (bits - 1)).item()
        assert product(form, a, b, scale) == expected
