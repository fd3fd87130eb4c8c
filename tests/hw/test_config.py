"""The configuration of an array: what there is no hardware for is refused, by name."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.hw import ArrayConfig


def test_what_is_not_given():
    config = ArrayConfig()
    assert (config.rows, config.cols, config.depth, config.accumulator_bits) == (1, 1, 1, 32)
    assert (config.a, config.b, config.cells) == (INT8, INT8, "portable")


@pytest.mark.parametrize("name", ["rows", "cols", "depth", "accumulator_bits"])
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-3, ValueError), (1.0, TypeError), (True, TypeError)])
def test_sizes_are_positive_integers(name, value, error):
    with pytest.raises(error, match=f"{name} must be a positive integer, not {value!r}"):
        ArrayConfig(**{name: value})


@pytest.mark.parametrize("name", ["a", "b"])
def test_operands_have_formats_of_2_to_16_bits(name):
    with pytest.raises(TypeError, match=f"{name} must be an IntFormat or a Float8Format, not 8"):
        ArrayConfig(**{name: 8})
    with pytest.raises(ValueError, match=f"{name} must have 2 to 16 bits, not 32"):
        ArrayConfig(**{name: IntFormat(32, signed=True)})
    with pytest.raises(ValueError, match=f"{name} must have at most 8 bits with cells 'dsp48e2-pair', not 9"):
        ArrayConfig(cells="dsp48e2-pair", **{name: IntFormat(9, signed=True)})


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (
            "int8",
            "int10",
            "b must have at most 9 bits with cells 'ecp5-pair' and int8 for a, two to a multiplier, not 10",
        ),
        ("uint9", "int9", "b must have at most 8 bits with cells 'ecp5-pair' and uint9 for a"),
        ("int16", "uint6", "b must have at most 5 bits with cells 'ecp5-pair' and int16 for a"),
        ("uint2", "int16", "b must have at most 9 bits with cells 'ecp5-pair' and uint2 for a"),
    ],
)
def test_two_operands_fit_a_multiplier_of_ecp5(a, b, text):
    with pytest.raises(ValueError, match=text):
        ArrayConfig(cells="ecp5-pair", a=IntFormat.parse(a), b=IntFormat.parse(b))


@pytest.mark.parametrize(("a", "b", "bits"), [(INT8, INT8, 16), (UINT8, INT8, 16), (UINT8, UINT8, 17)])
def test_accumulator_holds_a_product_and_no_more_than_48_bits(a, b, bits):
    largest = max(abs(x * y) for x in (a.min, a.max) for y in (b.min, b.max))
    assert ArrayConfig(a=a, b=b).product_bits == bits
    assert largest < 1 << bits - 1
    ArrayConfig(a=a, b=b, accumulator_bits=bits)
    with pytest.raises(ValueError, match=f"accumulator_bits must be at least {bits}"):
        ArrayConfig(a=a, b=b, accumulator_bits=bits - 1)
    with pytest.raises(ValueError, match="accumulator_bits must be at most 48, not 49"):
        ArrayConfig(a=a, b=b, accumulator_bits=49)


def test_cells_are_known():
    with pytest.raises(ValueError, match="cells must be one of portable, .*, not 'ecp6'"):
        ArrayConfig(cells="ecp6")


def test_copies_are_checked_too():
    config = ArrayConfig(rows=2, cols=3, depth=4)
    assert config.macs_per_cycle == 24
    assert config.replace(rows=5) == ArrayConfig(rows=5, cols=3, depth=4)
    with pytest.raises(ValueError, match="cols"):
        config.replace(cols=0)
