"""The transposer: rows of bytes in, columns out, through a memory whose banks are turned against each other."""

from __future__ import annotations

from typing import NamedTuple

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..credit import Credit
from ..hierarchy import place
from .realigner import aligned_word
from .rotate import rotate

__all__ = ["Transposer", "column_word"]


def column_word(size: int) -> data.StructLayout:
    """``size`` bytes, and whether they are the last of a walk."""
    return data.StructLayout({"data": 8 * size, "last": 1})


_BLOCKS = 4  # that the memory holds: of two the next one would come a cycle after the last column of one has left


class _Rows(NamedTuple):
    """A row on its way into the memory; of each block the address of its first row, its elements, less one, whether it
    has a single one, and whether it ends a walk.
    """

    write: Signal
    ends: Signal
    address: Signal
    turned: Signal
    bases: list[Signal]
    sizes: list[Signal]
    singles: list[Signal]
    lasts: list[Signal]


class Transposer(wiring.Component):
    """Blocks of up to ``rows`` words become words of ``rows`` elements of ``depth`` bytes: the rows' first, second, ...

    A run is one word, and a block is the rows of a step: that with ``mark.step_last`` ends it, and says with ``end``
    how many elements there are (of the last one some bytes may be missing). Of rows that are missing a column holds
    anything. A block whose only run is ``moved`` has the rows of the block before, but its first one, and that run
    behind them. While one block leaves, others come: a word a cycle each way. A column leaves ``latency`` cycles
    after its block's last word was taken at the earliest.

    The memory is a ring of rows. Bank b holds element (b - r) mod banks of the row at address r: a row is written to
    all banks at one address, and a column is read from all banks at addresses that count down from bank to bank.
    """

    latency = 4  # turned, into the memory, out of it, and into the output register

    def __init__(self, rows: int, bus_bytes: int, *, depth: int, cells: str) -> None:
        if bus_bytes % depth:
            raise ValueError(f"depth must divide the bus's {bus_bytes} bytes, not be {depth!r}")
        self.rows = rows
        self.bus_bytes = bus_bytes
        self.depth = depth
        self.cells = cells
        self.elements = bus_bytes // depth
        self.banks = 1 << (max(rows, self.elements) - 1).bit_length()
        self.ring = max(_BLOCKS << max(rows - 1, 1).bit_length(), self.banks)  # rows: a multiple of the banks
        self.kind = f"transposer_{rows}x{8 * bus_bytes}"
        super().__init__(
            {
                "i": In(stream.Signature(aligned_word(bus_bytes))),
                "o": Out(stream.Signature(column_word(rows * depth))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read = Signal()  # a column
        left = Signal()  # a block's last one
        rows = self._rows(m, left)
        full = Credit(m, _BLOCKS, name="full", full=False, give=rows.ends, take=left)
        self._columns(m, platform, rows, full.any, read, left)
        return m

    def _rows(self, m: Module, left: Value) -> _Rows:
        """Rows are taken while there is a part of the memory for them, and turned."""
        bits, word = 8 * self.depth, self.i.payload
        taken = Signal()
        ended = Signal()
        free = Credit(m, _BLOCKS, name="free", full=True, give=left, take=ended)
        into = Signal(range(_BLOCKS))
        row = Signal(range(self.ring))
        first = Signal(range(self.ring))  # row of this block
        base = Signal(range(self.ring))
        last_base = Signal(range(self.ring), reset_less=True)
        rows = _Rows(
            write=Signal(name="write"),
            ends=Signal(name="write_ends"),
            address=Signal(range(self.ring), name="write_address", reset_less=True),
            turned=Signal(bits * self.banks, name="turned", reset_less=True),
            bases=[Signal(range(self.ring), name=f"base_{part}", reset_less=True) for part in range(_BLOCKS)],
            sizes=[Signal(range(self.elements), name=f"elements_{part}", reset_less=True) for part in range(_BLOCKS)],
            singles=[Signal(name=f"single_{part}", reset_less=True) for part in range(_BLOCKS)],
            lasts=[Signal(name=f"last_{part}", reset_less=True) for part in range(_BLOCKS)],
        )
        elements = [word.data[bits * i :][:bits] for i in range(self.elements)]
        elements += elements[:1] * (self.banks - self.elements)  # anything
        m.d.comb += [
            self.i.ready.eq(free.any),
            taken.eq(self.i.valid & self.i.ready),
            ended.eq(taken & word.mark.step_last),
            base.eq(Mux(word.mark.moved, last_base + 1, first)),
        ]
        count = (self.banks - 1).bit_length()
        m.d.sync += [
            rows.write.eq(taken),
            rows.ends.eq(ended),
            rows.address.eq(row),
            rows.turned.eq(rotate(Cat(elements), (self.banks - row)[:count], bits)),
        ]
        with m.If(taken):
            m.d.sync += row.eq(row + 1)
        with m.If(ended):
            m.d.sync += [first.eq(row + 1), last_base.eq(base), into.eq(into + 1)]
        last_element = word.end >> (self.depth - 1).bit_length()
        for part in range(_BLOCKS):
            with m.If(free.any & (into == part)):  # the last row's stay: whether a row comes is known late
                m.d.sync += [
                    rows.bases[part].eq(base),
                    rows.sizes[part].eq(last_element),
                    rows.singles[part].eq(last_element == 0),
                    rows.lasts[part].eq(word.mark.last),
                ]
        return rows

    def _columns(self, m: Module, platform: object, rows: _Rows, full: Value, read: Signal, left: Signal) -> None:
        """Columns of a block are read, turned back, and offered."""
        bits, banks = 8 * self.depth, self.banks
        step = Signal()
        ends = Signal()  # the column is the block's last one: a register, since much follows from it
        out_of = Signal(range(_BLOCKS))
        base = Signal(range(self.ring), reset_less=True)  # settings of the block that leaves, chosen a cycle ahead
        size = Signal(range(self.elements), reset_less=True)
        last = Signal(reset_less=True)
        column = Signal(range(banks))
        there = Signal()
        there_last = Signal(reset_less=True)
        there_turn = Signal.like(column, reset_less=True)
        count = len(column)
        offers = Signal()
        word = Signal(self.o.payload.shape(), reset_less=True)
        m.d.comb += [
            step.eq(~offers | self.o.ready),
            read.eq(full & step),
            left.eq(read & ends),
            self.o.valid.eq(offers),
            self.o.payload.eq(word),
        ]
        with m.If(read):
            m.d.sync += column.eq(Mux(ends, 0, column + 1))
        with m.If(left):
            m.d.sync += out_of.eq(out_of + 1)

        def chosen(blocks: list[Signal]) -> Value:
            """The setting of the block that leaves in the next cycle."""
            return Mux(left, Array([*blocks[1:], blocks[0]])[out_of], Array(blocks)[out_of])

        m.d.sync += [base.eq(chosen(rows.bases)), size.eq(chosen(rows.sizes)), last.eq(chosen(rows.lasts))]
        with m.If(left | (~read & (column == 0))):
            m.d.sync += ends.eq(chosen(rows.singles))
        with m.Elif(read):
            m.d.sync += ends.eq(column + 1 == size)
        found = []
        for bank in range(banks):
            ram = BlockRam(bits, depth=1 << len(rows.address), cells=self.cells, registered=False)
            m.submodules[f"bank_{bank}"] = place(ram, platform)
            low = (bank - column)[:count]  # of the row's address; the rows from the base on are one for each bank
            m.d.comb += [
                ram.write.eq(rows.write),
                ram.write_address.eq(rows.address),
                ram.write_data.eq(rows.turned[bits * bank :][:bits]),
                ram.read.eq(step),
                ram.read_address.eq(Cat(low, base[count:] + (low < base[:count]))),
            ]
            found.append(Value.cast(ram.read_data))
        with m.If(step):
            m.d.sync += [
                there.eq(read),
                there_last.eq(ends & last),
                there_turn.eq(column + base[:count]),
                offers.eq(there),
                word.last.eq(there_last),
                word.data.eq(rotate(Cat(found), there_turn, bits)),
            ]
