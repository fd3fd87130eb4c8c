"""Parameters one by one: types, zeros of float8, and how each shape lies along its operand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from systoliq.golden.parameters import (
    along,
    as_operand,
    as_scale,
    as_zero_point,
    float8_zero,
    one_element,
    type_name,
)

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("float8", [True, False])
def test_operands_of_8_bits(dtype, float8):
    array = np.ones(2, dtype)
    assert as_operand("a", array, float8=float8) is array


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32, np.float32, bool])
def test_operands_of_other_types(dtype):
    name = np.dtype(dtype).name
    with pytest.raises(TypeError, match=f"^a must be int8 or uint8, not {name}$"):
        as_operand("a", np.ones(2, dtype))
    formats = "float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz"
    with pytest.raises(TypeError, match=f"^a must be int8, uint8 or one of {formats}, not {name}$"):
        as_operand("a", np.ones(2, dtype), float8=True)


def test_operands_of_float8():
    codes = np.ones(2, E5M2)
    assert as_operand("a", codes, float8=True) is codes
    with pytest.raises(TypeError, match="^a must be int8 or uint8, not float8_e5m2: float8 is for golden's"):
        as_operand("a", codes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, E4M3, E5M2])
def test_zero_points_have_the_type_of_their_operand(dtype):
    zero = np.zeros((), dtype)
    assert as_zero_point("z", zero, np.dtype(dtype), "a") is zero
    other = np.int16(0)
    with pytest.raises(TypeError, match=f"^z must be {type_name(zero.dtype)} as a is, not int16$"):
        as_zero_point("z", other, np.dtype(dtype), "a")
    if np.dtype(dtype).kind in "iu":
        assert as_zero_point("z", np.ones((), dtype), np.dtype(dtype), "a") == 1


@pytest.mark.parametrize("code", [0x00, 0x80])
def test_zeros_of_float8(code):
    """Of either sign; and integers may be anything."""
    zeros = np.array([0, code], np.uint8).view(E4M3)
    assert float8_zero("z", zeros) is zeros
    numbers = np.int8([0, 3])
    assert float8_zero("z", numbers) is numbers


@pytest.mark.parametrize("code", [0x01, 0x7C, 0x7F, 0xFF, 0x3C])
def test_what_is_no_zero_of_float8(code):
    """A subnormal number, infinity, NaN of either sign, one: wherever it stands."""
    for codes in ([code], [0, code], [[0, 0], [code, 0]]):
        with pytest.raises(ValueError, match=f"^z must be 0, as it is float8_e5m2, not the code 0x{code:02x}$"):
            float8_zero("z", np.array(codes, np.uint8).view(E5M2))


def test_names_of_types():
    assert [type_name(np.dtype(dtype)) for dtype in (np.int8, np.float32, E5M2)] == ["int8", "float32", "float8_e5m2"]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_scales_become_float32(dtype):
    found = as_scale("s", np.array([0.1, 3], dtype))
    np.testing.assert_array_equal(found, np.array([0.1, 3], dtype).astype(np.float32), strict=True)


def test_scales_of_python():
    assert as_scale("s", 0.1) == np.float32(0.1)
    assert as_scale("s", 1e300) == np.inf
    for value, name in ((1, "int64"), (np.float64(1), "float64"), ([0.5], "float64"), (True, "bool")):
        with pytest.raises(TypeError, match=f"^s must be float32, float16 or bfloat16, not {name}$"):
            as_scale("s", value)


ROWS = [((4, 3), (4,), (4, 1)), ((4, 3), (4, 1), (4, 1)), ((2, 4, 3), (2, 4, 1), (2, 4, 1)), ((4, 4), (4,), (4, 1))]
COLUMNS = [((3, 5), (5,), (1, 5)), ((3, 5), (1, 5), (1, 5)), ((2, 3, 5), (2, 1, 5), (2, 1, 5)), ((5, 5), (5,), (1, 5))]


@pytest.mark.parametrize(
    ("axis", "shape", "given", "found"),
    [*(("row", *case) for case in ROWS), *(("column", *case) for case in COLUMNS)],
)
def test_shapes_along_an_operand(axis, shape, given, found):
    parameter = np.arange(int(np.prod(given))).reshape(given)
    np.testing.assert_array_equal(along(axis, "s", parameter, shape), parameter.reshape(found), strict=True)


@pytest.mark.parametrize("axis", ["row", "column"])
@pytest.mark.parametrize("given", [(), (1,), (1, 1), (1, 1, 1)])
def test_one_element_lies_anywhere(axis, given):
    for shape in ((3,), (3, 5), (2, 3, 5)):
        assert along(axis, "s", np.full(given, 7), shape).shape == ()


@pytest.mark.parametrize(
    ("axis", "shape", "given", "allowed"),
    [
        ("row", (4, 3), (3,), r"a scalar or \[4\] or \[4, 1\] \(per row\) for a"),
        ("row", (4, 3), (1, 4), r"a scalar or \[4\] or \[4, 1\] \(per row\) for a"),
        ("row", (2, 4, 3), (4,), r"a scalar or \[2, 4, 1\] \(per row\) for a"),
        ("column", (3, 5), (3,), r"a scalar or \[5\] or \[1, 5\] \(per column\) for b"),
        ("column", (2, 3, 5), (5,), r"a scalar or \[2, 1, 5\] \(per column\) for b"),
        ("row", (3,), (3,), "a scalar for a"),
        ("column", (3,), (3,), "a scalar for b"),
    ],
)
def test_shapes_that_lie_along_nothing(axis, shape, given, allowed):
    text = ", ".join(map(str, given))
    with pytest.raises(ValueError, match=rf"^s must be {allowed} of shape .*, not of shape \[{text}\]$"):
        along(axis, "s", np.zeros(given), shape)


@pytest.mark.parametrize("given", [(), (1,), (1, 1)])
def test_the_one_element(given):
    found = one_element("s", np.full(given, 7, np.int8))
    assert (found, np.ndim(found)) == (7, 0)


@pytest.mark.parametrize("given", [(0,), (2,), (1, 2)])
def test_not_one_element(given):
    with pytest.raises(ValueError, match="^s must be a scalar or have one element, not shape"):
        one_element("s", np.zeros(given))
