"""A memory of two rows of a stream: one comes while the other is read, any element at a time."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..block_ram import SMALL, BlockRam
from ..counter import count
from ..credit import Credit
from ..hierarchy import place
from ..is_greater import is_greater
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline

__all__ = ["RowMemory"]


class RowMemory(wiring.Component):
    """Takes rows of ``length`` elements of ``form``, one to a beat.

    With ``banks``, ``run`` elements go to one bank before the next ones go to the next, and ``element`` is an array
    with the element at ``place`` of each bank. They must divide the length.

    ``complete`` says that there is a complete row that was not taken; ``take`` takes it, and ``done`` frees it, one
    after the other. Between these two, ``element`` is the one at ``place`` of ``latency`` cycles ago, ``greatest`` the
    greatest of the row, and ``ends`` whether ``last`` came with its last element.
    """

    def __init__(self, form: IntFormat, *, length: int, cells: str, banks: int = 1, run: int = 1) -> None:
        if length % (banks * run) and banks > 1:
            raise ValueError(f"banks of runs of {run} must divide the {length} elements, not {banks}")
        self.length = length
        self.run = run
        self.kind = f"row_memory_{length}x{'s' if form.signed else 'u'}{form.bits}"
        depth = self.depth_of(length // banks)
        self.banks = [BlockRam(form.bits, depth=depth, cells=cells, registered=depth > SMALL) for _ in range(banks)]
        shape = operand_shape(form)
        super().__init__(
            {
                "i": In(stream.Signature(y_beat(shape, 1))),
                "complete": Out(1),
                "take": In(1),
                "done": In(1),
                "read": In(1),
                "place": In(range(max(length // banks, 2))),
                "element": Out(shape if banks == 1 else data.ArrayLayout(shape, banks)),
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
        return self.banks[0].latency

    def timed(self, line: Timeline, taken: Steps, done: Steps) -> Steps:
        """Return when each row is complete, from its elements and when the rows are ``done``."""
        rows = np.arange(len(taken) // self.length)
        complete = line.steps(len(rows))
        complete.after_some(taken, 1, (rows + 1) * self.length - 1)
        taken.after_some(done, 1, np.repeat(rows - 2, self.length))
        return complete

    def elaborate(self, platform: object) -> Module:
        m = Module()
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
        m.d.comb += [
            self.i.ready.eq(room.any),
            comes.eq(self.i.valid & room.any),
            filled.eq(comes & put.last),
            greater.eq(Mux(first | is_greater(given, so_far), given, so_far)),
            self.complete.eq(complete.any),
            self.greatest.eq(Array(most)[read_slot]),
            self.ends.eq(Array(ends)[read_slot]),
        ]
        bits = (self.length // len(self.banks) - 1).bit_length()
        writes, address = self._put(m, comes, filled, put.value)
        for index, ram in enumerate(self.banks):
            m.submodules["ram" if len(self.banks) == 1 else f"ram_{index}"] = place(ram, platform)
            m.d.comb += [
                ram.write.eq(writes[index]),
                ram.write_address.eq(Cat(address[:bits], write_slot)),
                ram.write_data.eq(Value.cast(given)),
                ram.read.eq(self.read),
                ram.read_address.eq(Cat(self.place[:bits], read_slot)),
            ]
        m.d.comb += Value.cast(self.element).eq(Cat(ram.read_data for ram in self.banks))
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

    def _put(self, m: Module, comes: Signal, filled: Signal, number: Value) -> tuple[list[Value], Value]:
        """Return, for the element that ``comes``, the ``number``-th of its row: which bank takes it, and where."""
        if len(self.banks) == 1:
            return [comes], number
        ends_run = count(m, self.run, when=comes, name="of_run").last
        bank = count(m, len(self.banks), when=comes & ends_run, name="bank")
        address = Signal(range(self.length // len(self.banks) + 1), name="put_address")
        with m.If(comes):
            back = ends_run & ~bank.last  # to the first element of the run, in the next bank
            m.d.sync += address.eq(Mux(filled, 0, Mux(back, address - (self.run - 1), address + 1)))
        return [comes & (bank.value == index) for index in range(len(self.banks))], address
