"""Float8 numbers in SMT-LIB's theory of floating point, which is the specification of the float8 proofs.

A float8 magnitude with zeros on both sides is a binary32 times a power of two, subnormal if the magnitude is. With one
more bit after it, it is the tie between two neighbours. Sums and products of these are exact in binary128.
"""

from __future__ import annotations

from systoliq.golden.float8 import Float8Format
from systoliq.golden.formats import IntFormat
from systoliq.golden.operand import Format

__all__ = ["EXACT", "EXACT_BIAS", "WIDE_BIAS", "bits", "magnitude", "operand", "power", "units"]

EXACT = "15 113"
"""Sizes of exponent and significand of binary128."""
EXACT_BIAS = (1 << 14) - 1
WIDE_BIAS = 127
"""The exponent bias of binary32."""


def bits(number: int, width: int) -> str:
    """A constant of ``width`` bits."""
    return f"(_ bv{number % (1 << width)} {width})"


def magnitude(form: Float8Format, code: str, behind: str = "") -> str:
    """A finite magnitude, the ``code`` of 7 bits with the bits ``behind`` it, times 2^(bias - 127)."""
    before, zeros = 1 + form.mantissa_bits + 1, 23 - form.mantissa_bits - len(behind)
    binary32 = f"((_ to_fp 8 24) (concat {bits(0, before)} (concat {code} #b{behind}{'0' * zeros})))"
    return f"((_ to_fp {EXACT}) RNE {binary32})"


def operand(form: Format, code: str) -> str:
    """The value of a code, scaled as by `magnitude`: a number, an infinity or NaN. An integer is returned unchanged."""
    if isinstance(form, IntFormat):
        return f"((_ to_fp{'' if form.signed else '_unsigned'} {EXACT}) RNE {code})"
    rest = f"((_ extract 6 0) {code})"
    infinity = bits(form.max_code + 1, 7)
    if form.infinity_code is not None:
        nan = f"(bvugt {rest} {infinity})"
    else:
        nan = f"(= {code} {bits(0x80, 8)})" if form.fnuz else f"(= {rest} {infinity})"
    value = magnitude(form, rest)
    if form.infinity_code is not None:
        value = f"(ite (= {rest} {infinity}) (_ +oo {EXACT}) {value})"
    value = f"(ite (= ((_ extract 7 7) {code}) #b1) (fp.neg {value}) {value})"
    return f"(ite {nan} (_ NaN {EXACT}) {value})"


def units(form: Format) -> int:
    """The power of two that takes the result of `operand` to units of the format."""
    return 0 if isinstance(form, IntFormat) else WIDE_BIAS - 1 + form.mantissa_bits


def power(exponent: int) -> str:
    """2^exponent in the exact format."""
    return f"(fp #b0 {bits(EXACT_BIAS + exponent, 15)} {bits(0, 112)})"
