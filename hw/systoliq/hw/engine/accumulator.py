"""The accumulator below a column of the weight-stationary array."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from .weight_array import PARTIAL_BITS

__all__ = ["Accumulator"]


class Accumulator(wiring.Component):
    """Gathers the partial sums of one column of the array, one accumulator for each row of A.

    ``partial`` belongs to the ``valid``, ``first`` and ``row`` of `BlockRam.latency` cycles before it: it is added to
    accumulator ``row`` or, with ``first``, replaces it. ``sum`` shows the outcome a cycle after ``partial``, until the
    next one. The same row must not come again within ``again`` cycles. Control moves right, one column a cycle, to
    ``..._next``.
    """

    kind = "accumulator"
    again = BlockRam.latency_of("portable") + 2
    """Read (of the slowest), addition, and a cycle in which the sum is written."""

    def __init__(self, depth: int, *, cells: str) -> None:
        self.ram = BlockRam(signed(PARTIAL_BITS), depth=depth, cells=cells)
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
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        valid = delay(m, self.valid, 1, name="valid", reset_less=False)
        first = delay(m, self.first, 1, name="first")
        row = delay(m, self.row, 1, name="row")
        adds = delay(m, valid, ram.latency - 1, name="adds", reset_less=False)
        replaces = delay(m, first, ram.latency - 1, name="replaces")
        total = Signal(signed(PARTIAL_BITS), reset_less=True)
        with m.If(adds):
            m.d.sync += total.eq(self.partial + Mux(replaces, 0, ram.read_data))
        m.d.comb += [
            self.valid_next.eq(valid),
            self.first_next.eq(first),
            self.row_next.eq(row),
            ram.read.eq(1),
            ram.read_address.eq(self.row),
            ram.write.eq(delay(m, adds, 1, name="writes", reset_less=False)),
            ram.write_address.eq(delay(m, row, ram.latency, name="written_row")),
            ram.write_data.eq(total),
            self.sum.eq(total),
        ]
        return m
