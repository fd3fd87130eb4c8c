"""The accumulator below a column of the weight-stationary array."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .weight_array import PARTIAL_BITS

__all__ = ["Accumulator"]


class Accumulator(wiring.Component):
    """Gathers the partial sums of one column of the array, one accumulator for each row of A.

    ``partial`` belongs to the ``valid``, ``first`` and ``row`` of the cycle before it: it is added to accumulator
    ``row`` or, with ``first``, replaces it. ``sum`` shows the outcome one cycle after ``partial``, until the next. The
    same row must not come in two cycles in a row. Control moves right, one column a cycle, to ``..._next``.
    """

    kind = "accumulator"

    def __init__(self, depth: int) -> None:
        self.depth = depth
        super().__init__(
            {
                "partial": In(signed(PARTIAL_BITS)),
                "valid": In(1),
                "first": In(1),
                "row": In(range(depth)),
                "valid_next": Out(1),
                "first_next": Out(1),
                "row_next": Out(range(depth)),
                "sum": Out(signed(PARTIAL_BITS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=signed(PARTIAL_BITS), depth=self.depth, init=[])
        write, read = memory.write_port(), memory.read_port()
        valid = Signal()
        first = Signal(reset_less=True)
        row = Signal(range(self.depth), reset_less=True)
        total = Signal(signed(PARTIAL_BITS))
        held = Signal(signed(PARTIAL_BITS), reset_less=True)
        m.d.sync += [valid.eq(self.valid), first.eq(self.first), row.eq(self.row)]
        m.d.comb += [
            self.valid_next.eq(valid),
            self.first_next.eq(first),
            self.row_next.eq(row),
            read.en.eq(1),
            read.addr.eq(self.row),
            total.eq(self.partial + Mux(first, 0, read.data)),
            write.en.eq(valid),
            write.addr.eq(row),
            write.data.eq(total),
            self.sum.eq(held),
        ]
        with m.If(valid):
            m.d.sync += held.eq(total)
        return m
