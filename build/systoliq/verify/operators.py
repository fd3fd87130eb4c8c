"""Verilog's operators on values: integers, or arrays of integers with one element per case."""

from __future__ import annotations

from typing import Any

import numpy as np

from .expression import UnreadableError

__all__ = ["Value", "arithmetic", "as_signed", "bit", "choose", "compare", "part", "reduce", "shift_amount", "sized"]

Value = Any  # an int, or an array of ints, not negative: of int64 where all its bits fit, of Python's beyond

_NATIVE = 62  # bits, so that sums and signs fit as well


def sized(value: Value, width: int) -> Value:
    """`value`, whose numbers have `width` bits, in the type of array for this width."""
    if not isinstance(value, np.ndarray):
        return value
    wanted = np.dtype(np.int64 if width <= _NATIVE else object)
    return value if value.dtype == wanted else value.astype(wanted)


def choose(condition: Any, yes: Value, no: Value, width: int) -> Value:
    """Return `yes` where `condition` (an array of bool) is true, `no` elsewhere; each of `width` bits."""
    if width > _NATIVE:  # numpy has no common type for two large ints
        yes, no = (np.asarray(each, dtype=object) for each in (yes, no))
    return sized(np.where(condition, yes, no), width)


def shift_amount(by: Value, width: int) -> Value:
    """The effective shift of a number of `width` bits: larger shifts equal `width`."""
    return sized(np.minimum(by, width), width) if isinstance(by, np.ndarray) else min(by, width)


def as_signed(value: Value, width: int) -> Value:
    """The two's complement number in `width` bits."""
    return value - ((value >> (width - 1)) << width)


def bit(condition: Any) -> Value:
    """Return 1 where `condition` is true, 0 elsewhere."""
    return np.where(condition, 1, 0) if isinstance(condition, np.ndarray) else int(condition)


def part(value: Value, low: int, width: int, whole: int) -> Value:
    """Bits `low` and up of a value of `whole` bits."""
    shifted = value >> low if low else value
    return shifted & ((1 << width) - 1) if low + width < whole else shifted


def reduce(operator: str, value: Value, width: int) -> Value:
    """A reduction of `width` bits to one."""
    if operator in ("|", "~|", "!"):
        found = bit(value != 0)
    elif operator in ("&", "~&"):
        found = bit(value == (1 << width) - 1)
    else:
        found = np.vectorize(lambda bits: int(bits).bit_count() & 1, otypes=[np.int64])(value)
        found = found if isinstance(value, np.ndarray) else int(found)
    return 1 - found if operator in ("!", "~&", "~|", "~^") else found


def compare(operator: str, a: Value, b: Value) -> Value:
    """Return 1 where the comparison is true; signed numbers are passed as such."""
    match operator:
        case "<":
            return bit(a < b)
        case "<=":
            return bit(a <= b)
        case ">":
            return bit(a > b)
        case ">=":
            return bit(a >= b)
    equal = bit(a == b)
    return equal if operator in ("==", "===") else 1 - equal


def arithmetic(operator: str, a: Value, b: Value) -> Value:
    """The result, in any number of bits."""
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "~^" | "^~":
            return ~(a ^ b)
    raise UnreadableError(f"the operator {operator} does not occur in what systoliq emits")
