"""The vector unit: bytes of one or two tensors in memory become bytes of another, element by element, by tables."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..credit import Credit
from ..delay import delay
from ..engine.loop import Pace
from ..fifo import Fifo
from ..hierarchy import place
from .realigner import aligned_word
from .registers import VECTOR_REGISTERS, command_layout
from .vector_lane import ENTRY_BITS, LARGEST_SHIFT, VectorLane, VectorRounding
from .vector_product import VectorProduct
from .word_queue import WordQueue

__all__ = ["ENTRY_BYTES", "TABLE_BYTES", "VectorCommand", "VectorUnit"]

ENTRY_BYTES = 4
TABLE_BYTES = 256 * ENTRY_BYTES
"""Bytes of a table in memory: an entry for each byte, by its bits, whose lowest `ENTRY_BITS` bits count."""
_WAITING = 32  # words that have entered the lanes and have not left

VectorCommand = command_layout(*VECTOR_REGISTERS)
"""A command for the words of A, and with ``pair`` of B: with ``load``, they are tables; otherwise elements. Results are
saturated to int8, or to uint8 with ``unsigned``, after a shift by ``shift``."""


class VectorUnit(wiring.Component):
    """``bus_bytes`` lanes (see `VectorLane`) between the readers of A and B and the writer of Y.

    ``start`` begins ``command``, which need not stay. ``busy`` is 1 from the cycle after ``start`` until the last word
    of A's walk has been used, all results have left and ``y_idle`` is 1. With ``pair``, a word of ``b`` goes with each
    word of ``a``. ``y`` has a word of results for each word of ``a``, one a cycle; with ``product``, where a single
    `VectorProduct` takes one byte after the other, in as many cycles as a word has bytes.
    """

    def __init__(self, bus_bytes: int, *, cells: str) -> None:
        self.bus_bytes = bus_bytes
        self.cells = cells
        self.kind = f"vector_unit_{8 * bus_bytes}"
        word = stream.Signature(aligned_word(bus_bytes))
        super().__init__(
            {
                "start": In(1),
                "command": In(VectorCommand),
                "busy": Out(1),
                "y_idle": In(1),
                "a": In(word),
                "b": In(word),
                "y": Out(stream.Signature(8 * bus_bytes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        command = Signal(VectorCommand, reset_less=True)
        busy, reads, fills, enters, loads, taken, whole = (
            Signal(name=name) for name in ("working", "reads", "fills", "enters", "loads", "taken", "whole")
        )
        a, b = words = tuple(self._words(m, platform, name) for name in "ab")
        under_way = self._lanes(m, platform, words, enters, reads, loads, whole, command)
        both = a.any & (b.any | ~command.pair)
        pace = Pace(m, self.bus_bytes, name="pace", begin=enters & command.product)
        may = Signal()  # a word is taken if it is there: decided a cycle ahead, before any word of a command comes
        m.d.sync += may.eq((reads & self._room.next & pace.next) | (fills & whole))
        m.d.comb += [
            self.busy.eq(busy),
            taken.eq(both & may),
            enters.eq(taken & reads),
            loads.eq(fills & both),
            a.take.eq(taken),
            b.take.eq(taken & command.pair),
        ]
        left = delay(m, taken, 1, name="taken_before", reset_less=False)
        with m.If(self.start):
            m.d.sync += [
                busy.eq(1),
                reads.eq(~self.command.load),
                fills.eq(self.command.load),
                command.eq(self.command),
            ]
        with m.Else():
            with m.If(left & a.taken.last & a.taken.mark.last):  # no more words are there
                m.d.sync += [reads.eq(0), fills.eq(0)]
            with m.If(~reads & ~fills & ~under_way & self.y_idle):
                m.d.sync += busy.eq(0)
        return m

    def _words(self, m: Module, platform: object, name: str) -> WordQueue:
        """The words of an operand in a queue, since the reader is far away and both operands decide about each word.
        No word after the command's last one enters the queue.
        """
        given = getattr(self, name)
        queue = WordQueue(given.payload.shape(), cells=self.cells)
        m.submodules[f"{name}_queue"] = place(queue, platform)
        comes = Signal(name=f"{name}_comes")
        m.d.comb += [
            queue.i.payload.eq(given.payload),
            queue.i.valid.eq(given.valid & comes),
            given.ready.eq(queue.i.ready & comes),
        ]
        with m.If(self.start):
            m.d.sync += comes.eq(self.command.pair if name == "b" else 1)
        with m.Elif(given.valid & given.ready & given.payload.last & given.payload.mark.last):
            m.d.sync += comes.eq(0)
        return queue

    def _lanes(
        self,
        m: Module,
        platform: object,
        words: tuple[WordQueue, ...],
        enters: Signal,
        reads: Signal,
        loads: Signal,
        whole: Signal,
        command: data.View,
    ) -> Value:
        """The lanes, and a FIFO that has room for all that is in them; whether anything is left between there and
        ``y``.
        """
        lanes = [VectorLane(cells=self.cells) for _ in range(self.bus_bytes)]
        fifo = Fifo(8 * self.bus_bytes, depth=_WAITING, cells=self.cells, late=True)
        m.submodules.fifo = place(fifo, platform)
        wiring.connect(m, fifo.o, wiring.flipped(self.y))
        left = Signal(name="left")
        m.d.sync += left.eq(fifo.o.valid & fifo.o.ready)
        self._room = Credit(m, _WAITING, name="room", full=True, give=left, take=enters)
        count = Signal(range(_WAITING + 1), name="under_way")
        entered = delay(m, enters, 1, name="entered", reset_less=False)
        m.d.sync += count.eq(count + entered - left)
        rounding, entries = _rounding(m, command), self._entries(m, words, loads, whole)
        summed = entered & ~command.product
        products, there = self._products(m, platform, words, entered, entries, command)
        m.d.comb += [
            fifo.i.valid.eq(there | delay(m, summed, lanes[0].latency, name="on_its_way", reset_less=False)),
            fifo.i.payload.eq(Mux(command.product, products, Cat(lane.y for lane in lanes))),
        ]
        for index, lane in enumerate(lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.a.eq(words[0].taken.data[8 * index :][:8]),
                lane.b.eq(words[1].taken.data[8 * index :][:8]),
                lane.read.eq(reads),
                lane.rounding.eq(rounding),
                lane.load_a.eq(entries["load"]),
                lane.load_b.eq(entries["load"] & command.pair),
                lane.at.eq(entries["at"]),
                lane.entry_a.eq(entries["a"]),
                lane.entry_b.eq(entries["b"]),
            ]
        return count.any() | entered

    def _products(
        self,
        m: Module,
        platform: object,
        words: tuple[WordQueue, ...],
        entered: Value,
        entries: dict[str, Signal],
        command: data.View,
    ) -> tuple[Value, Value]:
        """A word of products, the lowest byte first, and whether it is whole."""
        unit = VectorProduct(cells=self.cells)
        m.submodules.product = place(unit, platform)
        for name, queue in zip("ab", words, strict=True):
            left = Signal(8 * self.bus_bytes, name=f"{name}_left", reset_less=True)
            m.d.sync += left.eq(Mux(entered, queue.taken.data, left >> 8))
            m.d.comb += getattr(unit, name).eq(left[:8])
        m.d.comb += [
            unit.unsigned.eq(command.unsigned),
            unit.load.eq(entries["load"]),
            unit.at.eq(entries["at"]),
            unit.threshold.eq(entries["a"]),
            unit.constant.eq(entries["b"]),
        ]
        found = Signal(8 * self.bus_bytes, name="products", reset_less=True)
        m.d.sync += found.eq(Cat(found[8:], unit.y))
        whole = entered & command.product
        return found, delay(m, whole, self.bus_bytes + unit.latency + 1, name="product_under_way", reset_less=False)

    def _entries(self, m: Module, words: tuple[WordQueue, ...], loads: Signal, whole: Signal) -> dict[str, Signal]:
        """Entries of the tables, one after the other; ``whole``: the one of the next cycle uses up a word of memory."""
        parts = self.bus_bytes // ENTRY_BYTES
        part = Signal(range(max(parts, 2)))
        place_of = Signal(8, name="next_at")
        entries = {"load": Signal(name="load"), "at": Signal(8, name="at", reset_less=True)}
        following = Signal.like(part, name="part_next")
        m.d.comb += [following.eq(part), whole.eq(following == parts - 1)]
        now = delay(m, loads, 1, name="loads_now", reset_less=False)  # the words are there
        part_now = delay(m, part, 1, name="part_now")
        m.d.sync += [entries["load"].eq(now), entries["at"].eq(place_of)]
        with m.If(loads):
            m.d.comb += following.eq(Mux(part == parts - 1, 0, part + 1))
        with m.If(now):
            m.d.sync += place_of.eq(place_of + 1)
        with m.If(self.start):
            m.d.comb += following.eq(0)
            m.d.sync += place_of.eq(0)
        m.d.sync += part.eq(following)
        for name, queue in zip("ab", words, strict=True):
            entries[name] = entry = Signal(ENTRY_BITS, name=f"entry_{name}", reset_less=True)
            choices = Array(queue.taken.data[8 * ENTRY_BYTES * index :][:ENTRY_BITS] for index in range(parts))
            m.d.sync += entry.eq(choices[part_now])
        return entries


def _rounding(m: Module, command: data.View) -> Signal:
    """The part of a command that the lanes need, a cycle later."""
    rounding = Signal(VectorRounding, reset_less=True)
    one = Const(1, 1) << command.shift
    m.d.sync += [
        rounding.shift.eq(command.shift),
        rounding.unsigned.eq(command.unsigned),
        rounding.pair.eq(command.pair),
        rounding.largest.eq(command.largest),
        rounding.even.eq(Cat(Const(0, 1), one[1:])),
        rounding.half.eq(Cat(command.shift > bit for bit in range(1, LARGEST_SHIFT))),
    ]
    return rounding
