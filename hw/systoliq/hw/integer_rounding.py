"""Rounding to integers: a normalized number to the nearest one, half to even, plus a zero point, saturated."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib.wiring import In

from systoliq.golden.formats import IntFormat

from .delay import delay
from .normalized import NormalizedRounding
from .operand_shape import operand_shape

__all__ = ["IntegerRounding"]


class IntegerRounding(NormalizedRounding):
    """``code`` is the integer of ``output`` nearest to the number, plus ``zero_point``, which must not change.

    The quantum is 1, and a number with a field of 1 is 2^``output.bits``, which is outside the range of ``output`` for
    any zero point: the ``bias`` is 1 - ``output.bits``. NaN becomes the least integer, -infinity the least and
    +infinity the greatest.
    """

    LATENCY = 5
    kind = "integer_rounding"

    def __init__(self, output: IntFormat, *, field_bits: int, flag_bits: int) -> None:
        self.output = output
        integer = operand_shape(output)
        super().__init__(output.bits, integer, field_bits=field_bits, flag_bits=flag_bits, zero_point=In(integer))

    @staticmethod
    def bias_of(output: IntFormat) -> int:
        """The bias of ``field``."""
        return 1 - output.bits

    def elaborate(self, platform: object) -> Module:
        m = Module()
        output, bits = self.output, self.output.bits
        lost = self._lost(m)
        beyond = delay(m, self.field > 0, 3, name="beyond")
        mantissa, up = self._quanta(m, lost)
        magnitude = Signal(bits + 1, reset_less=True)
        m.d.sync += magnitude.eq(mantissa + up)

        zero, negative, infinite, nan = self._meant(m, self.LATENCY - 2)
        size = Mux(beyond | infinite, 1 << bits, magnitude)
        size = Mux(zero & ~infinite, 0, size)
        moved = Signal(signed(bits + 2), reset_less=True)
        m.d.sync += moved.eq(Mux(negative, -size, size) + self.zero_point)
        limited = Mux(moved < output.min, output.min, Mux(moved > output.max, output.max, moved))
        limited = Mux(delay(m, nan, 1, name="nan"), output.min, limited)
        m.d.comb += self.code.eq(delay(m, limited[:bits], 1, name="code"))
        return m
