"""Operands of a layer as they are given: the format they fill, or one that is asked for; codes of float8."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, INT8, INT32, UINT8, IntFormat
from systoliq.golden.operand import as_layer_operand, as_layer_zero_point, integer_format, kind

INT4, INT12 = IntFormat(4, signed=True), IntFormat(12, signed=True)
FLOAT8 = ml_dtypes.float8_e5m2


@pytest.mark.parametrize(
    ("dtype", "form"),
    [(np.int8, INT8), (np.uint8, UINT8), (np.int16, IntFormat(16, True)), (np.uint16, IntFormat(16, False))],
)
def test_integers_fill_their_type(dtype, form):
    array = np.ones(3, dtype)
    found, fmt = as_layer_operand("b", array, None)
    assert found is array
    assert fmt == form


@pytest.mark.parametrize(
    ("form", "dtype", "ends"),
    [
        (INT4, np.int8, (-8, 7)),
        (INT12, np.int16, (-2048, 2047)),
        (IntFormat(16, False), np.uint16, (0, 65535)),
    ],
)
def test_integers_of_a_narrower_format(form, dtype, ends):
    found, fmt = as_layer_operand("b", np.array(ends, dtype), form)
    np.testing.assert_array_equal(found, np.array(ends, dtype), strict=True)
    assert fmt is form
    number, _ = as_layer_zero_point("z", ends[1], form)  # Python's own
    np.testing.assert_array_equal(number, np.array(ends[1], dtype), strict=True)


@pytest.mark.parametrize(
    ("value", "form", "error", "text"),
    [
        (
            np.ones(2, np.int32),
            None,
            TypeError,
            "b must be an array of int8, uint8, int16, uint16 or float8, not int32",
        ),
        (3, None, TypeError, "b must be an array of int8, uint8, int16, uint16 or float8, not 3"),
        (np.ones(2, np.int32), INT32, ValueError, "the format of b must have at most 16 bits, not 32"),
        (np.ones(2, np.uint8), INT8, TypeError, "b must have the type int8, not uint8"),
        ([1, 2], INT8, TypeError, r"b must have the type int8, not \[1, 2\]"),
        (True, INT8, TypeError, "b must have the type int8, not True"),
        (np.int8([0, 8]), INT4, ValueError, r"b\[1\] must be in int4, -8 to 7, not 8"),
        (-9, INT4, ValueError, "b must be in int4, -8 to 7, not -9"),
        (np.ones(2, np.int8), "int8", TypeError, "the format of b must be an IntFormat, a Float8Format or None, not"),
        (np.ones(2, np.int8), E5M2, TypeError, "b must have the type float8_e5m2, or be its codes as uint8, not int8"),
        (np.ones(2, FLOAT8), E4M3FN, TypeError, "b must have the type float8_e4m3fn, .*, not float8_e5m2"),
        (np.int64(1), E5M2, TypeError, "b must have the type float8_e5m2, or be its codes as uint8, not int64"),
        (np.zeros(2, np.int64), E5M2, TypeError, "b must have the type float8_e5m2, .*, not int64"),
        (np.int32(0), E5M2, TypeError, "b must have the type float8_e5m2, .*, not int32"),
    ],
)
def test_what_is_no_operand(value, form, error, text):
    with pytest.raises(error, match=f"^{text}"):
        as_layer_operand("b", value, form)


def test_codes_of_float8():
    """By their type, by the format, or as what they are."""
    numbers = np.array([1, -2], FLOAT8)
    codes = np.uint8([0x3C, 0xC0])
    for value, form in ((numbers, None), (numbers, E5M2), (codes, E5M2)):
        found, fmt = as_layer_operand("b", value, form)
        np.testing.assert_array_equal(found, codes, strict=True)
        assert fmt == E5M2
    assert as_layer_operand("b", codes, None)[1] == UINT8


@pytest.mark.parametrize("value", [0, np.uint8(0), np.uint8(0x80), FLOAT8(0), FLOAT8(-0.0), np.uint8([0, 0x80])])
def test_zero_points_of_float8(value):
    """Either zero becomes the positive one."""
    found, fmt = as_layer_zero_point("z", value, E5M2)
    np.testing.assert_array_equal(found, np.zeros(np.shape(value), np.uint8), strict=True)
    assert fmt is E5M2


def test_what_is_no_zero_point_of_float8():
    with pytest.raises(ValueError, match="^z must be 0, as it is float8_e5m2, not the code 0x3c$"):
        as_layer_zero_point("z", FLOAT8(1), None)


def test_what_float8_cannot_be_used_for():
    assert integer_format("y_format", INT8) is INT8
    with pytest.raises(TypeError, match="^y_format must be a format of integers here, not float8_e5m2: use systoliq"):
        integer_format("y_format", E5M2)


def test_kinds_in_words():
    assert [kind(value) for value in (np.int8(3), np.zeros(2, np.uint16), 3, [1])] == ["int8", "uint16", "3", "[1]"]
