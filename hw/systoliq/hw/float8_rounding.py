"""Rounding to float8: a normalized number to the nearest code, half to even, saturated."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from systoliq.golden.float8 import Float8Format

from .delay import delay
from .normalized import NormalizedRounding

__all__ = ["Float8Rounding"]


class Float8Rounding(NormalizedRounding):
    """``code`` of a number; if a flag is set, the code of NaN, or of the greatest finite value with the infinity's
    sign.
    """

    LATENCY = 4
    kind = "float8_rounding"

    def __init__(self, output: Float8Format, *, field_bits: int, flag_bits: int) -> None:
        self.output = output
        super().__init__(output.mantissa_bits, 8, field_bits=field_bits, flag_bits=flag_bits)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = self.output.mantissa_bits
        lost = self._lost(m)
        beyond = delay(m, self.field > self.output.max_code >> bits, 1, name="beyond")
        field = delay(m, Mux(self.field < 1, 0, self.field)[: 7 - bits], 2, name="field")
        mantissa, up = self._quanta(m, lost)
        magnitude = Signal(8, reset_less=True)  # a mantissa of all ones carries into the field, as it must
        m.d.sync += magnitude.eq(Cat(mantissa, field) + up)
        m.d.comb += self.code.eq(self._code(m, magnitude, delay(m, beyond, 2, name="beyond_then")))
        return m

    def _code(self, m: Module, magnitude: Value, beyond: Value) -> Value:
        """The code of a rounded magnitude, or of zero, NaN or an infinity."""
        output = self.output
        zero, negative, infinite, nan = self._meant(m, self.LATENCY - 1)
        limited = Mux(beyond | (magnitude > output.max_code), output.max_code, magnitude)
        limited = Mux(infinite, output.max_code, Mux(zero, 0, limited))[:7]
        sign = negative & (infinite | ~zero)
        if output.fnuz:
            sign &= limited.any()
        return delay(m, Mux(nan, output.nan_code, Cat(limited, sign)), 1, name="code")
