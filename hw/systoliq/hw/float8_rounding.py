"""Rounding to float8: a normalized number to the nearest code, half to even, saturated."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8 import Float8Format

from .delay import delay

__all__ = ["Float8Rounding"]


class Float8Rounding(wiring.Component):
    """``code`` is that of (-1)^negative * 1.fraction * 2^(field - bias), `LATENCY` cycles later. No reset.

    ``field`` is an exponent field without a lowest or a highest value. ``fraction`` has one bit more than mantissas,
    and ``more`` says that the number goes on below it. ``zero`` is the number 0. ``flags`` are those of a sum (see
    `Mac`): where one is set, NaN or the greatest value of the infinity's sign is meant instead.
    """

    LATENCY = 4
    kind = "float8_rounding"

    def __init__(self, output: Float8Format, *, field_bits: int, flag_bits: int) -> None:
        self.output = output
        super().__init__(
            {
                "field": In(signed(field_bits)),
                "fraction": In(output.mantissa_bits + 1),
                "more": In(1),
                "zero": In(1),
                "negative": In(1),
                "flags": In(flag_bits),
                "code": Out(8),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        output, bits = self.output, self.output.mantissa_bits
        # How far below the least normal number, and whether above the greatest.
        lost_most = bits + 2  # the leading one then stands below the half
        lost = Mux(self.field < 1 - lost_most, lost_most, Mux(self.field < 1, 1 - self.field, 0))
        lost = delay(m, lost[: lost_most.bit_length()], 1, name="lost")
        beyond = delay(m, self.field > output.max_code >> bits, 1, name="beyond")
        field = delay(m, Mux(self.field < 1, 0, self.field)[: 7 - bits], 2, name="field")
        number = delay(m, Cat(self.more, self.fraction, 1), 1, name="number")

        # Subnormal results: what moves out below is not forgotten.
        moved: Value = number
        for i in range(len(lost)):
            step = 1 << i
            after = Signal(len(number), name=f"moved_by_{step}")
            m.d.comb += after.eq(Mux(lost[i], Cat(moved[: step + 1].any(), moved[step + 1 :]), moved))
            moved = after
        moved = delay(m, moved, 1, name="moved")

        more, half, mantissa = moved[0], moved[1], moved[2 : 2 + bits]
        magnitude = Signal(8, reset_less=True)  # a mantissa of all ones carries into the field, as it must
        m.d.sync += magnitude.eq(Cat(mantissa, field) + (half & (more | mantissa[0])))
        m.d.comb += self.code.eq(self._code(m, magnitude, delay(m, beyond, 2, name="beyond_then")))
        return m

    def _code(self, m: Module, magnitude: Value, beyond: Value) -> Value:
        """The code of a rounded magnitude, or of what is meant instead."""
        output = self.output
        zero, negative, flags = (
            delay(m, value, self.LATENCY - 1, name=f"{name}_then")
            for name, value in (("zero", self.zero), ("negative", self.negative), ("flags", self.flags))
        )
        if len(flags) == 1:
            nan, infinite = flags, Const(0, 1)
        else:
            nan, infinite = flags.all(), flags.any()
            negative = Mux(infinite, flags[1], negative)
        limited = Mux(beyond | (magnitude > output.max_code), output.max_code, magnitude)
        limited = Mux(infinite, output.max_code, Mux(zero, 0, limited))[:7]
        sign = negative & (infinite | ~zero)
        if output.fnuz:
            sign &= limited.any()
        return delay(m, Mux(nan, output.nan_code, Cat(limited, sign)), 1, name="code")
