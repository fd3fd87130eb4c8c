"""Proofs of the multiply-accumulate with two products of narrow operands in one ECP5 multiplier."""

from __future__ import annotations

from systoliq.golden.formats import IntFormat

from ..property import Property, SeededBug
from .array import config_of, mac

__all__ = ["PROPERTIES"]


def _pair(
    a: str, b: str, bug: SeededBug, *, depth: int = 1, accumulator_bits: int = 32, quick: bool = False
) -> Property:
    """A property in which both the cell and the reference multiply bit by bit."""
    formats = {"a": IntFormat.parse(a), "b": IntFormat.parse(b)}
    config = config_of(bits=2, depth=depth, accumulator_bits=accumulator_bits, cells="ecp5-pair").replace(**formats)
    return mac(config, bug, quick=quick)


_NEVER_GIVEN_BACK = SeededBug(module="mac.ecp5_pair", old="if negative and column else []", new="if False else []")
_NEVER_BORROWED = SeededBug(module="mac.ecp5_pair", old="borrow: Value = first[-1]", new="borrow: Value = Const(0, 1)")
_GIVEN_BACK_TWICE = SeededBug(module="mac.ecp5_pair", old="carries[min(i + 1, last)]", new="carries[i]")
_WRONG_SIGN = SeededBug(module="cells.ecp5", old='"i_SIGNEDB": int(b.shape().signed)', new='"i_SIGNEDB": 1')

PROPERTIES = (
    _pair("int3", "int3", _NEVER_GIVEN_BACK, accumulator_bits=8, quick=True),
    _pair("int4", "int4", _NEVER_BORROWED),
    _pair("int8", "int2", _NEVER_GIVEN_BACK, accumulator_bits=24),
    _pair("int8", "int4", _NEVER_BORROWED),
    _pair("uint8", "int4", _NEVER_GIVEN_BACK),
    _pair("int8", "uint5", _NEVER_GIVEN_BACK),
    _pair("uint8", "uint5", _WRONG_SIGN),
    _pair("int3", "int3", _NEVER_GIVEN_BACK, depth=2, accumulator_bits=24),
    _pair("int3", "int3", _GIVEN_BACK_TWICE, depth=3, accumulator_bits=9),
    _pair("int4", "int2", _GIVEN_BACK_TWICE, depth=3, accumulator_bits=24),
)
