"""Results of float8's requantizer in SMT-LIB's theory of floating point: the nearest code, or integer."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Shape

from systoliq.golden.float8 import Float8Format
from systoliq.golden.formats import IntFormat
from systoliq.hw.integer_rounding import IntegerRounding
from systoliq.hw.operand_shape import operand_shape

from .float8_numbers import EXACT, WIDE_BIAS, bits, magnitude

__all__ = ["Codes", "Integers"]


@dataclass(frozen=True)
class Codes:
    """Codes of float8.

    ``fields``: an exponent field whose numbers round to 0, and one beyond all results. ``specials``: the results for
    +infinity, -infinity and NaN. ``power``: the power of two of a number 1.0 at field 0, as `nearest` expects it.
    """

    output: Float8Format
    power = -WIDE_BIAS

    @property
    def fields(self) -> tuple[int, int]:
        return -self.output.mantissa_bits - 1, (self.output.max_code >> self.output.mantissa_bits) + 1

    @property
    def specials(self) -> tuple[int, int, int]:
        return self.output.max_code, self.output.max_code | 0x80, self.output.nan_code

    @property
    def inputs(self) -> dict[str, Shape]:
        """Further inputs that the result depends on."""
        return {}

    def nearest(self, real: str, negative: str) -> str:
        """Formula: ``y`` lies between the ties below and above ``real``; ties round to even codes."""
        output = self.output
        code, size = "((_ extract 6 0) {y})", f"(fp.abs {real})"
        even = "(= ((_ extract 0 0) {y}) #b0)"
        below = magnitude(output, f"(bvsub {code} {bits(1, 7)})", "1")
        above = magnitude(output, code, "1")
        from_below = f"(or (= {code} {bits(0, 7)}) (fp.gt {size} {below}) (and {even} (fp.eq {size} {below})))"
        last = bits(output.max_code, 7)
        from_above = f"(or (= {code} {last}) (fp.lt {size} {above}) (and {even} (fp.eq {size} {above})))"
        if output.fnuz:
            negative = f"(and {negative} (not (= {code} {bits(0, 7)})))"
        sign = f"(= (= ((_ extract 7 7) {{y}}) #b1) {negative})"
        return f"(and (bvule {code} {last}) {from_below} {from_above} {sign})"


@dataclass(frozen=True)
class Integers:
    """Integers with any zero point, as `Codes`."""

    output: IntFormat

    @property
    def power(self) -> int:
        """One more than for the number itself: for twice the number, ties are integers."""
        return 1 - IntegerRounding.bias_of(self.output)

    @property
    def fields(self) -> tuple[int, int]:
        return -self.output.bits - 1, 2

    @property
    def specials(self) -> tuple[int, int, int]:
        return self.output.max, self.output.min, self.output.min

    @property
    def inputs(self) -> dict[str, Shape]:
        """The zero point."""
        return {"zero_point": operand_shape(self.output)}

    def nearest(self, real: str, negative: str) -> str:
        """Formula: ``y`` less the zero point lies between the ties below and above half of ``real``; ties round to
        even.

        There is no limit below the least and above the greatest integer.
        """
        width, (least, most) = self.output.bits + 3, self.output.ends
        wide = f"(_ {'sign' if self.output.signed else 'zero'}_extend 3)"
        whole = f"(bvsub ({wide} {{y}}) ({wide} {{zero_point_then}}))"
        even = f"(= ((_ extract 0 0) {whole}) #b0)"
        below, above = (
            f"((_ to_fp {EXACT}) RNE ({step} (bvadd {whole} {whole}) {bits(1, width)}))" for step in ("bvsub", "bvadd")
        )
        ends = (f"(= {{y}} {bits(end, self.output.bits)})" for end in (least, most))
        from_below = f"(or {next(ends)} (fp.gt {real} {below}) (and {even} (fp.eq {real} {below})))"
        from_above = f"(or {next(ends)} (fp.lt {real} {above}) (and {even} (fp.eq {real} {above})))"
        return f"(and {from_below} {from_above})"
