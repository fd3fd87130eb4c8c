"""IntFormat: ranges, names, containers and errors."""

import numpy as np
import pytest

from systoliq.golden import INT8, INT32, UINT8, IntFormat, signed_bits

# name, bits, signed, least, greatest, container: written by hand from two's complement
FORMATS = [
    ("int2", 2, True, -2, 1, np.int8),
    ("uint2", 2, False, 0, 3, np.uint8),
    ("int4", 4, True, -8, 7, np.int8),
    ("uint5", 5, False, 0, 31, np.uint8),
    ("int8", 8, True, -128, 127, np.int8),
    ("uint8", 8, False, 0, 255, np.uint8),
    ("int9", 9, True, -256, 255, np.int16),
    ("uint12", 12, False, 0, 4095, np.uint16),
    ("int16", 16, True, -32768, 32767, np.int16),
    ("uint16", 16, False, 0, 65535, np.uint16),
    ("int32", 32, True, -2147483648, 2147483647, np.int32),
]


@pytest.mark.parametrize(("name", "bits", "signed", "least", "greatest", "dtype"), FORMATS)
def test_a_format_knows_its_range_name_and_container(name, bits, signed, least, greatest, dtype):
    fmt = IntFormat(bits, signed)
    assert (fmt.name, str(fmt), fmt.min, fmt.max, fmt.dtype) == (name, name, least, greatest, dtype)
    assert IntFormat.parse(name) == fmt
    assert fmt.contains(np.array([least, 0, greatest]))
    assert not fmt.contains(least - 1)
    assert not fmt.contains(np.array([0, greatest + 1]))
    assert fmt.saturate(np.array([-(2**40), least, greatest, 2**40])).tolist() == [least, least, greatest, greatest]


def test_integers_are_significands_that_are_never_shifted():
    assert (INT8.unit, INT8.max_shift, INT8.nan_code, INT8.infinity_code) == (0, 0, None, None)


def test_the_presets_fill_their_types():
    assert (IntFormat.of(np.int8), IntFormat.of(np.dtype("uint8")), IntFormat.of("int32")) == (INT8, UINT8, INT32)


def test_the_first_value_outside_is_reported_in_c_order():
    values = np.array([[0, 7], [8, -9]], np.int8)
    assert IntFormat(4, True).first_outside(values) == ((1, 0), 8)
    assert IntFormat(5, True).first_outside(values) is None
    assert IntFormat(4, True).first_outside(np.zeros((0, 3), np.int8)) is None


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: IntFormat(1, True), ValueError, "bits must be 2 to 16, or 32 for accumulators, not 1"),
        (lambda: IntFormat(17, True), ValueError, "not 17"),
        (lambda: IntFormat(8.0, True), TypeError, "bits must be an int, not 8.0"),
        (lambda: IntFormat(True, True), TypeError, "bits must be an int, not True"),
        (lambda: IntFormat(8, 1), TypeError, "signed must be a bool, not 1"),
        (lambda: IntFormat.parse("float8"), ValueError, "must be like 'int8' or 'uint5', not 'float8'"),
        (lambda: IntFormat.parse("int08"), ValueError, "not 'int08'"),
        (lambda: IntFormat.parse(8), TypeError, "not 8"),
        (lambda: IntFormat.of(np.float32), TypeError, "must be an integer of 8, 16 or 32 bits, not float32"),
        (lambda: IntFormat.of(np.int64), TypeError, "not int64"),
    ],
)
def test_errors_name_the_given_value(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("bits", range(1, 12))
def test_signed_bits_are_the_fewest_that_hold_every_value(bits):
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    assert signed_bits(least) == signed_bits(most) == signed_bits(least, most) == signed_bits(0, least, -1) == bits
    assert signed_bits(least - 1) == signed_bits(most + 1) == signed_bits(least, most + 1) == bits + 1
