"""A memory of two rows of a stream: one comes while the other is read, any element at a time."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..block_ram import SMALL, BlockRam
from ..counter import count
from ..credit import Credit
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline

__all__ = ["RowMemory"]


class RowMemory(wiring.Component):
    """Takes rows of ``length`` elements of ``form``, one to a beat.

    ``complete`` says that there is a complete row that was not taken; ``take`` takes it, and ``done`` frees it, one
    after the other. Between these two, ``element`` is the one at ``place`` of ``latency`` cycles ago, ``greatest`` the
    greatest of the row, and ``ends`` whether ``last`` came with its last element.
    """

    def __init__(self, form: IntFormat, *, length: int, cells: str) -> None:
        self.length = length
        self.kind = f"row_memory_{length}x{'s' if form.signed else 'u'}{form.bits}"
        depth = self.depth_of(length)
        self.ram = BlockRam(form.bits, depth=depth, cells=cells, registered=depth > SMALL)
        shape = operand_shape(form)
        super().__init__(
            {
                "i": In(stream.Signature(y_beat(shape, 1))),
                "complete": Out(1),
                "take": In(1),
                "done": In(1),
                "read": In(1),
                "place": In(range(max(length, 2))),
                "element": Out(shape),
                "greatest": Out(shape),
                "ends": Out(1),
            }
        )

    @staticmethod
    def depth_of(length: int) -> int:
        """Elements in the memory."""
        return 2 << (length - 1).bit_length()

    @staticmethod
    def results_of(length: int) -> int:
        """Results in a FIFO of two rows."""
        return max(16, 2 << (length - 1).bit_length())

    @property
    def latency(self) -> int:
        """Cycles from ``read`` to ``element``."""
        return self.ram.latency

    def timed(self, line: Timeline, taken: Steps, done: Steps) -> Steps:
        """Return when each row is complete, from its elements and when the rows are ``done``."""
        rows = np.arange(len(taken) // self.length)
        complete = line.steps(len(rows))
        complete.after_some(taken, 1, (rows + 1) * self.length - 1)
        taken.after_some(done, 1, np.repeat(rows - 2, self.length))
        return complete

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = place(self.ram, platform)
        comes, filled = Signal(name="comes"), Signal(name="filled")
        complete = Credit(m, 2, name="complete", full=False, give=filled, take=self.take)
        room = Credit(m, 2, name="room", full=True, give=self.done, take=filled)
        put = count(m, self.length, when=comes, name="put")
        first = Signal(init=1)
        write_slot = Signal()
        read_slot = Signal()
        given = self.i.payload.data[0]
        so_far = Signal(given.shape(), reset_less=True)
        greater = Signal(given.shape())
        most = [Signal(given.shape(), name=f"greatest_{index}", reset_less=True) for index in range(2)]
        ends = [Signal(name=f"ends_{index}", reset_less=True) for index in range(2)]
        bits = (self.length - 1).bit_length()
        m.d.comb += [
            self.i.ready.eq(room.any),
            comes.eq(self.i.valid & room.any),
            filled.eq(comes & put.last),
            greater.eq(Mux(first | (given > so_far), given, so_far)),
            self.ram.write.eq(comes),
            self.ram.write_address.eq(Cat(put.value[:bits], write_slot)),
            self.ram.write_data.eq(Value.cast(given)),
            self.ram.read.eq(self.read),
            self.ram.read_address.eq(Cat(self.place[:bits], read_slot)),
            Value.cast(self.element).eq(self.ram.read_data),
            self.complete.eq(complete.any),
            self.greatest.eq(Array(most)[read_slot]),
            self.ends.eq(Array(ends)[read_slot]),
        ]
        with m.If(comes):
            m.d.sync += [so_far.eq(greater), first.eq(put.last)]
        with m.If(filled):
            m.d.sync += [
                write_slot.eq(~write_slot),
                Array(most)[write_slot].eq(greater),
                Array(ends)[write_slot].eq(self.i.payload.last),
            ]
        with m.If(self.done):
            m.d.sync += read_slot.eq(~read_slot)
        return m
