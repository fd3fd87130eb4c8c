"""A normalized number on its way to a nearest one: what rounding to float8 and rounding to integers have in common."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .delay import delay

__all__ = ["NormalizedRounding"]


class NormalizedRounding(wiring.Component):
    """``code`` is what (-1)^negative * 1.fraction * 2^(field - bias) becomes, ``LATENCY`` cycles later. No reset.

    ``field`` is an exponent field without a lowest or a highest value: numbers with a field below 1 have the quantum of
    the field 1, which is 2^-``bits`` of its leading one. ``fraction`` has ``bits`` + 1 bits, and ``more`` is set if
    lower bits are not all 0. ``zero`` is the number 0. ``flags``, if any, are the flags of a sum (see `Mac`): if one is
    set, the value is NaN or an infinity.
    """

    LATENCY: int

    def __init__(self, bits: int, code: Shape | int, *, field_bits: int, flag_bits: int, **ports: Any) -> None:
        self._bits, self._flag_bits = bits, flag_bits
        super().__init__(
            {
                "field": In(signed(field_bits)),
                "fraction": In(bits + 1),
                "more": In(1),
                "zero": In(1),
                "negative": In(1),
                **({"flags": In(flag_bits)} if flag_bits else {}),  # Verilog has no port of 0 bits
                "code": Out(code),
                **ports,
            }
        )

    def _lost(self, m: Module) -> Value:
        """Number of places by which ``field`` is below 1, a cycle later."""
        lost_most = self._bits + 2  # the leading one then stands below the half
        lost = Mux(self.field < 1 - lost_most, lost_most, Mux(self.field < 1, 1 - self.field, 0))
        return delay(m, lost[: lost_most.bit_length()], 1, name="lost")

    def _quanta(self, m: Module, lost: Value) -> tuple[Value, Value]:
        """The number in quanta, without its leading one where ``field`` is 1 or more, and whether to add 1: 2 cycles
        later.
        """
        number = delay(m, Cat(self.more, self.fraction, 1), 1, name="number")

        # What moves out below is not forgotten.
        moved: Value = number
        for i in range(len(lost)):
            step = 1 << i
            after = Signal(len(number), name=f"moved_by_{step}")
            m.d.comb += after.eq(Mux(lost[i], Cat(moved[: step + 1].any(), moved[step + 1 :]), moved))
            moved = after
        moved = delay(m, moved, 1, name="moved")
        more, half, mantissa = moved[0], moved[1], moved[2 : 2 + self._bits]
        return mantissa, half & (more | mantissa[0])

    def _meant(self, m: Module, cycles: int) -> tuple[Value, Value, Value, Value]:
        """Flags, ``cycles`` later: the number is 0, negative, infinite, NaN; an infinity has its own sign."""
        zero, negative = (
            delay(m, value, cycles, name=f"{name}_then")
            for name, value in (("zero", self.zero), ("negative", self.negative))
        )
        never = Const(0, 1)
        if not self._flag_bits:
            return zero, negative, never, never
        flags = delay(m, self.flags, cycles, name="flags_then")
        if len(flags) == 1:
            return zero, negative, never, flags
        nan, infinite = flags.all(), flags.any()
        return zero, Mux(infinite, flags[1], negative), infinite, nan
