"""The direct drain: a multiplexer down a column of the array, which takes each row's sum in the cycle it is whole."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .cells import is_ecp5
from .cells.ecp5_mux import ECP5_MUX_BITS, ecp5_mux
from .config import ArrayConfig
from .delay import delay
from .mac import Mac
from .selection import INDEX_BITS, select, select_cycles

__all__ = ["DirectDrain"]


class DirectDrain(wiring.Component):
    """``sum`` is the sum of row ``row`` of `latency_of` cycles ago; ``sums`` are the sums of all rows of the column.

    If sums come in parts (see `Mac`), part i is sampled and output `Part.late` cycles later. ``row_next`` is ``row`` as
    the column to the right needs it: a cycle later, or two where elements have two columns.

    Nothing is stored: row r + 1's sum is whole a cycle after row r's, whose next tile may have begun by then. No reset.
    """

    kind = "drain"

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        self._columns = Mac.columns_of(config)
        word = signed(config.word_bits * self._columns)
        row = range(config.rows)
        super().__init__(
            {"sums": In(data.ArrayLayout(word, config.rows)), "row": In(row), "row_next": Out(row), "sum": Out(word)}
        )

    @staticmethod
    def latency_of(config: ArrayConfig) -> int:
        """Cycles from ``row`` to the first part of its sum."""
        return select_cycles(config.rows, ECP5_MUX_BITS if is_ecp5(config.cells) else INDEX_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        chosen = []
        for part in Mac.parts_of(self.config):
            prefix = f"from_{part.start}_"
            row = delay(m, self.row, part.late, name=f"{prefix}row")
            sums = [part.of(Value.cast(self.sums[r])) for r in range(self.config.rows)]
            if is_ecp5(self.config.cells):
                chosen.append(select(m, sums, row, prefix=prefix, bits=ECP5_MUX_BITS, choose=ecp5_mux))
            else:
                chosen.append(select(m, sums, row, prefix=prefix))
        m.d.comb += [
            self.sum.eq(Cat(chosen)),
            self.row_next.eq(delay(m, self.row, self._columns, name="row_on")),
        ]
        return m
