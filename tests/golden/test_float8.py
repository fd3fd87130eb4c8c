"""The float8 formats: every code and every rounding, against ml_dtypes, onnx and rationals."""

from fractions import Fraction

import float8_oracle as oracle
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8, INT8, UINT8, Float8Format, sum_bits
from systoliq.golden.wide import Wide

formats = pytest.mark.parametrize("form", FLOAT8, ids=str)


@formats
def test_every_code_has_the_value_that_ml_dtypes_gives_it(form):
    decoded, values = form.decode(oracle.CODES), oracle.values(form.name)
    np.testing.assert_array_equal(decoded.nan, np.isnan(values))
    np.testing.assert_array_equal(decoded.infinity, np.where(np.isinf(values), np.sign(values), 0))
    for significand, shift, value in zip(decoded.significand, decoded.shift, values, strict=True):
        if np.isfinite(value):
            assert Fraction(int(significand) << int(shift)) * Fraction(2) ** form.unit == Fraction(float(value))
            assert abs(significand) < 1 << form.significand_bits
            assert shift <= form.max_shift
        else:
            assert significand == shift == 0


@formats
def test_constants_of_the_formats(form):
    values = oracle.finite(form.name)
    assert form.max_units * Fraction(2) ** form.unit == values[-1]
    assert form.max_code == len(values) - 1
    assert Fraction(2) ** form.unit == values[1]
    assert form.nan_code == oracle.NAN[form.name]
    assert (form.bits, form.signed, form.min, form.max) == (8, False, 0, 255)  # of its codes
    assert form.infinity_code == {"float8_e5m2": 0x7C}.get(form.name)


@formats
def test_encode_every_float16(form):
    values = np.arange(65536, dtype=np.uint16).view(np.float16)
    codes = form.encode(values)
    output = oracle.Output(form.name)
    inside = np.abs(values) <= np.float16(form.max_units * 2.0**form.unit)
    expected = values[inside].astype(oracle.dtype(form.name)).view(np.uint8)  # ml_dtypes does not saturate
    np.testing.assert_array_equal(codes[inside], expected)
    numbers = [oracle.fixed(float(v)) if np.isfinite(v) else float(v) for v in values.tolist()]
    rounded = np.array([output.round(number) for number in numbers], np.uint8)
    negative_zero = (values == 0) & np.signbit(values)
    np.testing.assert_array_equal(codes[~negative_zero], rounded[~negative_zero])
    assert codes[negative_zero].tolist() == [0 if form.fnuz else 0x80]


@formats
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_encode_at_and_next_to_every_tie(form, dtype):
    ties = np.array([float(Fraction(tie, 2**oracle.UNIT)) for tie in oracle.Output(form.name).ties], dtype)
    tiny = np.finfo(dtype)
    extremes = np.array([tiny.smallest_subnormal, tiny.tiny, tiny.max, np.inf], dtype)
    values = np.concatenate([ties, np.nextafter(ties, dtype(0)), np.nextafter(ties, dtype(np.inf)), extremes])
    expected = []
    for value in values.tolist():
        magnitude = Fraction(value) if np.isfinite(value) else None
        steps = oracle.finite(form.name)
        if magnitude is None or magnitude >= steps[-1]:
            expected.append(form.max_code)
            continue
        code = next(code for code in range(len(steps)) if steps[code + 1] > magnitude)
        below, above = magnitude - steps[code], steps[code + 1] - magnitude
        expected.append(code + (above < below or (above == below and code % 2 == 1)))
    np.testing.assert_array_equal(form.encode(values), expected)
    negative = form.encode(-values)
    np.testing.assert_array_equal(negative & 0x7F, expected)
    np.testing.assert_array_equal(negative >= 0x80, (np.array(expected) > 0) | (not form.fnuz))


@formats
def test_encode_as_onnx_does(form):
    helper = pytest.importorskip("onnx.numpy_helper", reason="onnx has its own saturating conversion")
    values = np.random.default_rng(0).integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    values = np.concatenate([values[~np.isnan(values)], np.float32([0, -0.0, np.inf, -np.inf, 448, 464, 480, -1e-30])])
    expected = helper.saturate_cast(values, oracle.dtype(form.name)).view(np.uint8)
    np.testing.assert_array_equal(form.encode(values), expected)


def test_accumulator_bits():
    ks = (64, 2048, 65536)
    assert [sum_bits(E4M3FN, E4M3FN, k) for k in ks] == [43, 48, 53]
    assert [sum_bits(E4M3FNUZ, E4M3FNUZ, k) for k in ks] == [43, 48, 53]
    assert [sum_bits(E5M2, E5M2, k) for k in ks] == [71, 76, 81]
    assert [sum_bits(E5M2FNUZ, E5M2FNUZ, k) for k in ks] == [73, 78, 83]
    assert [sum_bits(E4M3FN, E5M2, k) for k in ks] == [57, 62, 67]
    assert sum_bits(INT8, UINT8, 1) == 16


def test_names_and_dtypes():
    for form in FLOAT8:
        short = form.name.removeprefix("float8_")
        assert (
            Float8Format.parse(short) is Float8Format.parse(f"float8{short}") is Float8Format.parse(form.name) is form
        )
        assert Float8Format.of(form.dtype) is Float8Format.of(oracle.dtype(form.name)) is form
        tagged = oracle.CODES.view(form.dtype)
        assert Float8Format.of(tagged.reshape(16, 16)[3, :4].dtype) is form
        np.testing.assert_array_equal(form.codes(tagged), oracle.CODES)
    assert Float8Format.of(np.uint8) is Float8Format.of(np.float16) is Float8Format.of("u1,u1") is None
    assert Float8Format.of(oracle.dtype("float8_e3m4")) is None


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Float8Format.parse("e3m4"), ValueError, "one of float8_e4m3fn, .*, not 'e3m4'"),
        (lambda: Float8Format.parse(8), TypeError, "must be a str such as 'float8_e4m3fn', not 8"),
        (lambda: E5M2.encode(np.arange(3)), TypeError, "values must be floats of 16, 32 or 64 bits, not int64"),
        (
            lambda: E5M2.decode(oracle.CODES.view(np.int8)),
            TypeError,
            "codes of float8_e5m2 must be uint8 .* not int8",
        ),
        (
            lambda: E5M2.codes(oracle.CODES.view(oracle.dtype("float8_e4m3fn"))),
            TypeError,
            "codes of float8_e5m2 must be uint8 or float8_e5m2, not float8_e4m3fn",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_wide_numbers_against_python_integers():
    rng = np.random.default_rng(1)
    terms = []
    for shift in (0, 16, 16, 31, 32):
        integers = rng.integers(-(2**63), 2**63 - 1, 2000, np.int64, endpoint=True) >> rng.integers(0, 63, 2000)
        terms.append((integers, shift))
    for index, integer in enumerate((-(2**63), 2**63 - 1, 0, -1, 1, 2**32, -(2**32), 2**31)):
        for integers, _ in terms:
            integers[index] = integer
    scale = rng.integers(0, 2**32, 2000, dtype=np.uint32).view(np.float32)
    scale = np.where(np.isfinite(scale), scale, np.float32(1e-45))
    scale[:40:2] = np.float32([0.0, -0.0, 1.0, -1.0]).repeat(5)
    wide = Wide.of_sums(terms, -7).times(scale)
    quantum = wide.leading - rng.integers(-3, 30, 2000)
    quantum[wide.zero] = 5
    rounded = wide.rounded(quantum)
    for i in range(2000):
        exact = (
            sum(int(integers[i]) << shift for integers, shift in terms) * Fraction(1, 128) * Fraction(float(scale[i]))
        )
        assert wide.negative[i] == (exact < 0)
        assert wide.zero[i] == (exact == 0)
        if exact:
            assert Fraction(2) ** int(wide.leading[i]) <= abs(exact) < Fraction(2) ** int(wide.leading[i] + 1)
        assert rounded[i] == round(abs(exact) / Fraction(2) ** int(quantum[i]))
