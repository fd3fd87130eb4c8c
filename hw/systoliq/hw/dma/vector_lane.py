"""A lane of the vector unit: looks up two bytes in a table each, and rounds the sum or the larger of both entries."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from .registers import VECTOR_REGISTERS

__all__ = ["ENTRY_BITS", "LARGEST_SHIFT", "VectorLane", "VectorRounding", "saturated"]

ENTRY_BITS = 18
"""Bits of a table's entry, which is signed: a word of a block RAM of 1024 words on ECP5."""
(_VECTOR,) = VECTOR_REGISTERS
_SHIFT_BITS = _VECTOR.field("shift").bits
LARGEST_SHIFT = (1 << _SHIFT_BITS) - 1
_TOTAL_BITS = ENTRY_BITS + 2  # of the sum of two entries, and of a half added to it

VectorRounding = data.StructLayout(
    {"shift": _SHIFT_BITS, "even": _TOTAL_BITS, "half": _TOTAL_BITS, "unsigned": 1, "pair": 1, "largest": 1}
)
"""Rounding of all lanes: ``even`` has a one in place ``shift``, and ``half`` is 2**(shift - 1) - 1; both are 0 without
a shift. ``unsigned`` selects the range of the results, ``pair`` uses the entry of ``b``, and ``largest`` takes
the larger of both entries instead of their sum."""


class VectorLane(wiring.Component):
    """``y`` = saturate(round_half_even((A[``a``] + B[``b``]) / 2**shift)), ``latency`` cycles later. No reset.

    With ``rounding.largest``, max(A[``a``], B[``b``]) replaces the sum. Without ``rounding.pair``, B[``b``] is 0. ``y``
    is saturated to int8, or to uint8 with ``rounding.unsigned``.
    ``load_a`` and ``load_b`` write ``entry_a`` and ``entry_b`` into the tables at ``at``; nothing may be ``read``
    meanwhile. ``rounding`` must not change while bytes are under way.
    """

    kind = "vector_lane"

    def __init__(self, *, cells: str) -> None:
        self.cells = cells
        super().__init__(
            {
                "a": In(8),
                "b": In(8),
                "read": In(1),
                "rounding": In(VectorRounding),
                "load_a": In(1),
                "load_b": In(1),
                "at": In(8),
                "entry_a": In(signed(ENTRY_BITS)),
                "entry_b": In(signed(ENTRY_BITS)),
                "y": Out(8),
            }
        )

    @property
    def latency(self) -> int:
        """Tables, their entries, both results, choice, place of the half, rounding, shift in two steps, saturation."""
        return BlockRam.latency_of(self.cells) + 8

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rounding = self.rounding
        entries = []
        for name in "ab":
            table = BlockRam(signed(ENTRY_BITS), depth=256, cells=self.cells)
            m.submodules[f"table_{name}"] = place(table, platform)
            m.d.comb += [
                table.write.eq(getattr(self, f"load_{name}")),
                table.write_address.eq(self.at),
                table.write_data.eq(getattr(self, f"entry_{name}")),
                table.read.eq(self.read),
                table.read_address.eq(getattr(self, name)),
            ]
            entries.append(table.read_data)
        a = delay(m, entries[0], 1, name="a_entry").as_signed()
        b = delay(m, Mux(rounding.pair, entries[1], 0).as_signed(), 1, name="b_entry").as_signed()
        sum_ = delay(m, a + b, 1, name="sum").as_signed()
        greater = delay(m, (a - b)[-1], 1, name="greater")  # a comparison would take a carry chain and tables behind it
        a, b = delay(m, a, 1, name="a_kept").as_signed(), delay(m, b, 1, name="b_kept").as_signed()
        total = delay(m, Mux(rounding.largest, Mux(greater, b, a), sum_), 1, name="total")
        odd = delay(m, (total & rounding.even).any(), 1, name="odd")
        total = delay(m, total, 1, name="total_kept").as_signed()
        rounded = Signal(signed(_TOTAL_BITS), reset_less=True)
        m.d.sync += rounded.eq(total + rounding.half + odd)
        coarse = rounded >> (rounding.shift[2:] << 2)[:_SHIFT_BITS]
        coarse = delay(m, coarse, 1, name="coarse").as_signed()
        whole = delay(m, coarse >> rounding.shift[:2], 1, name="whole").as_signed()
        m.d.comb += self.y.eq(delay(m, saturated(whole, rounding.unsigned), 1, name="y_register"))
        return m


def saturated(value: Value, unsigned: Value) -> Value:
    """Return the byte nearest to the signed ``value``: as int8, or as uint8 if ``unsigned``."""
    negative, high = value[-1], value[8:]
    outside = Mux(unsigned, high.any(), Cat(value[7], high) != negative.replicate(len(high) + 1))
    limit = Mux(unsigned, (~negative).replicate(8), Cat((~negative).replicate(7), negative))
    return Mux(outside, limit, value[:8])
