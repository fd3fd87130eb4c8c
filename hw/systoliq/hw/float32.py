"""Mantissas of float32: the 24 leading bits of an integer, rounded half to even. All in two's complement."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .delay import delay

__all__ = ["FLOAT32_BITS", "RoundToFloat32", "places_lost"]

FLOAT32_BITS = 24  # significant bits of a float32
_GROUP = 4  # bits that are looked through together


def places_lost(m: Module, value: Value, *, registered: bool) -> Signal:
    """Bit k: whether the signed ``value`` is so large that place k is below the last place of its float32.

    The leading bit is the highest one that is unlike the bit above it. For a negative power of two that is one place
    too low, where finer rounding changes nothing, since the number is a multiple of both units. ``registered`` puts a
    register into the middle of the search: the places come a cycle after their value.
    """
    unlike = value[FLOAT32_BITS:-1] ^ value[FLOAT32_BITS + 1 :]

    def any_of(bits: Value, name: str) -> Value:
        return delay(m, bits.any(), int(registered), name=name)

    lost = Signal(unsigned(len(value)))
    higher: list[Value] = []  # whether there is one in each pair of groups above, and in a group above it in its pair
    for index, top in enumerate(range(len(unlike), 0, -_GROUP)):
        bottom = max(top - _GROUP, 0)
        for k in range(bottom, top):
            m.d.comb += lost[k].eq(Cat(any_of(unlike[k:top], f"unlike_{k}"), *higher).any())
        if index % 2:
            higher[-1] = any_of(unlike[bottom : top + _GROUP], f"unlike_{bottom}_pair")
        else:
            higher.append(any_of(unlike[bottom:top], f"unlike_{bottom}_up"))
    return lost


class RoundToFloat32(wiring.Component):
    """``rounded`` is the float32 of the ``number`` of ``latency`` cycles ago. The largest round up to a power of two.

    ``registered`` puts a register behind the search of the lost places, and one behind the sum, before the cut.
    """

    kind = "round_to_float32"

    def __init__(self, bits: int, *, registered: bool = True) -> None:
        self._each = int(registered)
        self.latency = 2 * self._each
        super().__init__({"number": In(signed(bits)), "rounded": Out(signed(bits + 1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Half to even is to add a half, then to cut the lost places and, where they were a half, the one above them.
        lost = delay(m, places_lost(m, self.number, registered=False), self._each, name="lost")
        number = delay(m, self.number, self._each, name="number").as_signed()
        half = lost & ~(lost >> 1)
        tie = delay(m, ~((number ^ half) & lost).any(), self._each, name="tie")
        total = Signal(signed(len(self.rounded) + 1))  # with a place for the carry into it
        m.d.comb += total.eq(Cat(Const(1, 1), number).as_signed() + Cat(lost, Const(0, 1)))
        total = delay(m, total[1:], self._each, name="total")
        lost = delay(m, lost, self._each, name="lost_delayed")
        m.d.comb += self.rounded.eq(total & ~(lost | Mux(tie, lost << 1, 0)))
        return m
