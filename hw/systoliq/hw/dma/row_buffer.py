"""A buffer of two rows of bytes: one comes from memory while the other is read, any byte at a time."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..credit import Credit
from ..hierarchy import place
from .realigner import aligned_word

__all__ = ["RowBuffer"]


class RowBuffer(wiring.Component):
    """Takes the runs of a walk as rows of up to ``length`` bytes, a byte a cycle. Bytes are kept as codes: 0 is the
    least, of int8 with ``signed`` and of uint8 otherwise.

    ``complete`` says that there is a complete row that was not taken; ``take`` takes it, and ``done`` frees it. Between
    these two, ``code`` is the one at ``place`` of ``latency`` cycles ago if ``read`` was 1 then, and ``greatest`` the
    greatest of the row. ``came`` is 1 for a cycle for each row that is complete, before it can be taken.
    """

    def __init__(self, bus_bytes: int, *, length: int, cells: str) -> None:
        self.bus_bytes = bus_bytes
        self.length = length
        self.kind = f"row_buffer_{8 * bus_bytes}x{length}"
        self.ram = BlockRam(8, depth=2 * length, cells=cells)
        super().__init__(
            {
                "i": In(stream.Signature(aligned_word(bus_bytes))),
                "signed": In(1),
                "came": Out(1),
                "complete": Out(1),
                "take": In(1),
                "done": In(1),
                "read": In(1),
                "place": In(range(length)),
                "code": Out(8),
                "greatest": Out(8),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles from ``read`` to ``code``."""
        return self.ram.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        takes, there, ends, filled = (Signal(name=name) for name in ("takes", "there", "ends", "filled"))
        complete = Credit(m, 2, name="complete", full=False, give=filled, take=self.take)
        room = Credit(m, 2, name="room", full=True, give=self.done, take=takes & ends)
        word = self.i.payload
        part = Signal(range(self.bus_bytes), name="part")
        code = Signal(8, name="incoming", reset_less=True)
        last = Signal(name="last", reset_less=True)
        m.d.comb += [
            takes.eq(self.i.valid & room.any),
            self.i.ready.eq(takes & (part == word.end)),
            ends.eq(self.i.ready & word.last),
        ]
        chosen = Array(word.data[8 * index :][:8] for index in range(self.bus_bytes))[part]
        m.d.sync += [
            there.eq(takes),
            last.eq(ends),
            code.eq(chosen ^ Cat(Const(0, 7), self.signed)),
        ]
        with m.If(takes):
            m.d.sync += part.eq(Mux(self.i.ready, 0, part + 1))

        put = Signal(range(self.length), name="put")
        write_slot, read_slot = Signal(name="write_slot"), Signal(name="read_slot")
        so_far, greater = Signal(8, name="so_far"), Signal(8, name="greater")
        most = [Signal(8, name=f"greatest_{index}", reset_less=True) for index in range(2)]
        m.d.comb += [
            filled.eq(there & last),
            greater.eq(Mux(code > so_far, code, so_far)),
            ram.write.eq(there),
            ram.write_address.eq(Cat(put, write_slot)),
            ram.write_data.eq(code),
            ram.read.eq(self.read),
            ram.read_address.eq(Cat(self.place, read_slot)),
            self.came.eq(filled),
            self.complete.eq(complete.any),
            self.code.eq(ram.read_data),
            self.greatest.eq(Array(most)[read_slot]),
        ]
        with m.If(there):
            m.d.sync += [put.eq(Mux(last, 0, put + 1)), so_far.eq(Mux(last, 0, greater))]
        with m.If(filled):
            m.d.sync += [write_slot.eq(~write_slot), Array(most)[write_slot].eq(greater)]
        with m.If(self.done):
            m.d.sync += read_slot.eq(~read_slot)
        return m
