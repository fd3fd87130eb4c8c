"""The vector unit's part for whole rows: softmax and layer normalization, from memory to memory."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..credit import Credit
from ..fifo import Fifo
from ..hierarchy import place
from .gearbox import Gearbox
from .normalized_rows import NormalizationCommand, NormalizedRows
from .realigner import aligned_word
from .row_buffer import RowBuffer
from .softmax_rows import RECORD, SoftmaxCommand, SoftmaxRows

__all__ = ["RECORD_BYTES", "SOFTMAX_TABLE_BYTES", "RowUnit"]

RECORD_BYTES = RECORD.size // 8
SOFTMAX_TABLE_BYTES = 256 * RECORD_BYTES
_WAITING = 32  # results that are begun and have not left
_ROWS = 2 + _WAITING  # that are complete and whose results have not left, at the most

_RESULT = data.StructLayout({"y": 8, "last": 1})


class RowUnit(wiring.Component):
    """Rows of A in a `RowBuffer`, through one of two cores, and bytes of Y in words of the bus; B has its records.

    ``start`` begins ``softmax``, or ``normalization`` if ``normalizes``, of rows up to place ``last_place``; these must
    stay while ``busy``, which is 1 from the cycle after ``start`` until all that was to be read has been used, all
    results have left and ``y_idle`` is 1. ``y`` begins each row with a word. With ``softmax.load``, the records of B
    are the table, and there is no A; a normalization has a record for each element of A.
    """

    def __init__(self, bus_bytes: int, *, length: int, cells: str) -> None:
        self.bus_bytes = bus_bytes
        self.length = length
        self.cells = cells
        self.kind = f"row_unit_{8 * bus_bytes}x{length}"
        word = stream.Signature(aligned_word(bus_bytes))
        super().__init__(
            {
                "start": In(1),
                "softmax": In(SoftmaxCommand),
                "normalization": In(NormalizationCommand),
                "normalizes": In(1),
                "last_place": In(range(length)),
                "busy": Out(1),
                "y_idle": In(1),
                "a": In(word),
                "b": In(word),
                "y": Out(stream.Signature(8 * bus_bytes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows = RowBuffer(self.bus_bytes, length=self.length, cells=self.cells)
        softmax = SoftmaxRows(length=self.length, rows_latency=rows.latency, cells=self.cells)
        normalized = NormalizedRows(length=self.length, rows_latency=rows.latency, cells=self.cells)
        fifo = Fifo(_RESULT, depth=_WAITING, cells=self.cells, late=True)
        words, records = Gearbox(1, self.bus_bytes), Gearbox(self.bus_bytes, RECORD_BYTES)
        blocks = {"rows": rows, "softmax": softmax, "normalized": normalized, "fifo": fifo}
        for name, block in {**blocks, "words": words, "records": records}.items():
            m.submodules[name] = place(block, platform)
        begins, left, last_left, loads = (Signal(name=name) for name in ("begins", "left", "last_left", "loads"))
        room = Credit(m, _WAITING, name="room", full=True, give=left, take=begins)
        m.d.comb += [
            loads.eq(self.softmax.load & ~self.normalizes),
            rows.i.payload.eq(self.a.payload),
            rows.i.valid.eq(self.a.valid & ~loads),
            self.a.ready.eq(rows.i.ready & ~loads),
            rows.signed.eq(~Mux(self.normalizes, self.normalization.unsigned, self.softmax.unsigned)),
            softmax.command.eq(self.softmax),
            softmax.greatest.eq(rows.greatest),
            normalized.command.eq(self.normalization),
            words.i.valid.eq(fifo.o.valid),
            words.i.payload.data.eq(fifo.o.payload.y),
            words.i.payload.keep.eq(1),
            words.i.payload.last.eq(fifo.o.payload.last),
            fifo.o.ready.eq(words.i.ready),
            left.eq(fifo.o.valid & words.i.ready),
            last_left.eq(left & fifo.o.payload.last),
        ]
        for core, mine in ((softmax, ~self.normalizes), (normalized, self.normalizes)):
            m.d.comb += [
                core.last_place.eq(self.last_place),
                core.complete.eq(rows.complete & mine),
                core.code.eq(rows.code),
                core.room.eq(room.any),
            ]
            with m.If(mine):
                m.d.comb += [getattr(rows, name).eq(getattr(core, name)) for name in ("take", "done", "read", "place")]
                m.d.comb += [begins.eq(core.begins), fifo.i.valid.eq(core.valid)]
                m.d.comb += [getattr(fifo.i.payload, name).eq(getattr(core, name)) for name in ("y", "last")]
        wiring.connect(m, words.o, wiring.flipped(self.y))
        self._records(m, records, softmax, normalized, loads)
        self._busy(m, rows.came, last_left, loads, words.o.valid | records.o.valid)
        return m

    def _records(
        self, m: Module, records: Gearbox, softmax: SoftmaxRows, normalized: NormalizedRows, loads: Value
    ) -> None:
        """Words of B, put together or cut into records: entries of the table, one after the other, or of elements."""
        at = Signal(8, name="at")
        m.d.comb += [
            records.i.valid.eq(self.b.valid),
            records.i.payload.data.eq(self.b.payload.data),
            records.i.payload.keep.eq(~0),
            self.b.ready.eq(self.b.valid & records.i.ready),
            records.o.ready.eq(loads | normalized.record_ready),
            softmax.load.eq(records.o.valid & loads),
            softmax.at.eq(at),
            softmax.record.eq(records.o.payload),
            normalized.record.eq(records.o.payload),
            normalized.record_valid.eq(records.o.valid & self.normalizes),
        ]
        with m.If(softmax.load):
            m.d.sync += at.eq(at + 1)

    def _busy(self, m: Module, came: Value, gone: Value, loads: Value, waits: Value) -> None:
        """Count rows, and see when all is done."""
        busy, reads = Signal(name="working"), Signal(name="reads")
        count = Signal(range(_ROWS + 1), name="rows_inside")
        ends = Signal(name="last_word")
        for name, mine in (("a", ~loads), ("b", loads)):
            word = getattr(self, name)
            with m.If(mine & word.valid & word.ready & word.payload.last & word.payload.mark.last):
                m.d.comb += ends.eq(1)
        coming = Signal(2, name="coming")  # from the last word until what it ends is counted
        m.d.sync += [count.eq(count + came - gone), coming.eq(Cat(ends, coming[0]))]
        m.d.comb += self.busy.eq(busy)
        with m.If(self.start):
            m.d.sync += [busy.eq(1), reads.eq(1)]
        with m.Else():
            with m.If(ends):
                m.d.sync += reads.eq(0)
            with m.If(~reads & ~coming.any() & ~count.any() & ~waits & self.y_idle):
                m.d.sync += busy.eq(0)
