"""Softmax: rows of elements, each as its share of the row's exponentials, with the roundings of golden's `Softmax`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import network
from systoliq.golden.formats import IntFormat

from ..counter import count
from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..float32 import FLOAT32_BITS
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..rom import Rom
from ..timeline import Steps, Timeline
from .row_memory import RowMemory
from .softmax_steps import ADD_CYCLES, LEVEL_CYCLES, exponential_sum, rounded_quotient

__all__ = ["SoftmaxRows", "SoftmaxTables"]

_FINISH = LEVEL_CYCLES + 1  # cycles from the last bit of a quotient to its result
_BIAS = 127 + FLOAT32_BITS - 1  # of the exponent of a float32 whose mantissa is an integer


@dataclass(frozen=True, kw_only=True)
class SoftmaxTables:
    """Contributions of a row's elements, by their distance from the greatest: 256 entries.

    An exponential is ``mantissas * 2^exponents`` in the unit of the smallest; ``most_exponent`` is the exponent of the
    greatest sum of a row, and ``exponents[0]`` the smallest exponent of a sum. ``numerators`` are exponentials times
    ``levels`` in the unit of the greatest one's mantissa divided by 2^``fraction``; they are 0 where every result is.
    """

    mantissas: tuple[int, ...]
    exponents: tuple[int, ...]
    most_exponent: int
    numerators: tuple[int, ...]
    fraction: int
    levels: int

    @classmethod
    def of(cls, node: network.Softmax) -> SoftmaxTables:
        """Return the tables of ``node``."""
        greatest = node.totals(np.zeros(node.length, np.int64))
        *split, (_, most) = map(_split, (*node.exponentials, greatest))
        least = min(exponent for mantissa, exponent in split if mantissa)
        mantissas = tuple(mantissa for mantissa, _ in split)
        exponents = tuple(max(exponent, least) - least for _, exponent in split)
        first, levels = exponents[0], node.levels
        # At most half of a level even for the least sum, the greatest exponential alone, is a result of 0.
        counted = [
            mantissa * levels << exponent if 2 * mantissa * levels << exponent > mantissas[0] << first else 0
            for mantissa, exponent in zip(mantissas, exponents, strict=True)
        ]
        zeros = min([first, *((each & -each).bit_length() - 1 for each in counted if each)])
        return cls(
            mantissas=mantissas,
            exponents=exponents,
            most_exponent=most - least,
            numerators=tuple(each >> zeros for each in counted),
            fraction=first - zeros,
            levels=levels,
        )

    @property
    def quotient_bits(self) -> int:
        """Bits of a quotient before it is rounded."""
        return max(self.levels.bit_length(), 1)

    @property
    def exponent_bits(self) -> int:
        """Bits of an exponent."""
        return max(self.most_exponent.bit_length(), 1)

    @property
    def total_bits(self) -> int:
        """Bits of a row's sum in the unit of the greatest exponential's mantissa."""
        return FLOAT32_BITS + self.most_exponent - self.exponents[0]

    @property
    def numerator_bits(self) -> int:
        """Bits of the greatest numerator."""
        return max(max(self.numerators).bit_length(), 1)

    @property
    def word_bits(self) -> int:
        """Bits of a word of the memory: an exponential, or a numerator."""
        return max(FLOAT32_BITS + self.exponent_bits, self.numerator_bits)

    @property
    def words(self) -> list[int]:
        """The 256 exponentials, then the 256 numerators."""
        pairs = zip(self.mantissas, self.exponents, strict=True)
        return [mantissa | exponent << FLOAT32_BITS for mantissa, exponent in pairs] + list(self.numerators)

    def row_cycles(self, length: int) -> int:
        """Cycles from one row of ``length`` elements to the next."""
        return length * (ADD_CYCLES + self.divide_cycles) + 1

    @property
    def divide_cycles(self) -> int:
        """Cycles of one division: a bit in each, and one of half a level."""
        return self.quotient_bits + 2


def _split(value: np.float32) -> tuple[int, int]:
    """Mantissa and exponent: value = mantissa * 2^exponent."""
    bits = int(np.float32(value).view(np.uint32))
    exponent, fraction = bits >> FLOAT32_BITS - 1, bits & (1 << FLOAT32_BITS - 1) - 1
    return fraction | (exponent > 0) << FLOAT32_BITS - 1, max(exponent, 1) - _BIAS


class SoftmaxRows(wiring.Component):
    """Gives the softmax of each row of ``length`` elements of ``i``; ``last`` comes with the last of a row's that ended
    with it.

    Elements are codes of ``form``, one to a beat. While a row comes, one unit adds up the exponentials of the row
    before, element by element, and then divides each by their sum, bit by bit: a row takes ``tables.row_cycles``.
    There is room for two rows on either side.
    """

    namespace = True

    def __init__(
        self, tables: SoftmaxTables, form: IntFormat, *, length: int, zero_point: int, cells: str, kind: str
    ) -> None:
        self.tables = tables
        self.length = length
        self.kind = kind
        self.lanes = 1
        self._form = form
        self._zero_point = zero_point
        self.rows = RowMemory(form, length=length, cells=cells)
        self.rom = Rom(tables.words, tables.word_bits, cells=cells, kind=f"{kind}_exponentials")
        beat = y_beat(operand_shape(form), 1)
        self.fifo = Fifo(beat, depth=RowMemory.results_of(length), cells=cells)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        length, divides = self.length, self.tables.divide_cycles
        starts = line.steps(len(taken) // length, gap=self.tables.row_cycles(length))
        done = line.following(starts, self.tables.row_cycles(length) - 1)
        starts.after(self.rows.timed(line, taken, done), 0)
        made = line.steps(len(taken))
        row, place_of = np.divmod(np.arange(len(taken)), length)
        flight = 2 + length * ADD_CYCLES + self._look_up + divides + _FINISH
        made.after_some(starts, flight + place_of * divides, row)
        left = self.fifo.timed(line, made)
        starts.after_some(left, 1, (np.arange(len(starts)) - 1) * length - 1)  # two rows have room
        return left

    @property
    def _look_up(self) -> int:
        """Cycles from reading an element to its word of the table."""
        return self.rows.latency + 1 + self.rom.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows = self.rows
        for name in ("rows", "rom", "fifo"):
            m.submodules[name] = place(getattr(self, name), platform)
        wiring.connect(m, wiring.flipped(self.i), rows.i)
        left = self._leave(m)
        vacant = Credit(m, 2, name="vacant", full=True, give=left, take=rows.take)
        reads, first, final, dividing = self._walk(m, rows.complete & vacant.any)
        m.d.comb += rows.read.eq(reads)
        below = Signal(8, reset_less=True)
        m.d.sync += below.eq(rows.greatest - rows.element)

        def at_word(value: Value, name: str, *, reset_less: bool = True) -> Value:
            return delay(m, value, self._look_up, name=name, reset_less=reset_less)

        divides = delay(m, dividing, rows.latency + 1, name="divides")
        m.d.comb += self.rom.address.eq(Cat(below, divides))
        comes = at_word(reads, "comes", reset_less=False)
        divided = at_word(dividing, "divided")
        word = delay(m, self.rom.word, 1, name="word_then")
        total = self._sum(m, word, comes & ~divided, at_word(first, "first"))
        last = at_word(final & rows.ends, "ends_row")
        begins = delay(m, comes & divided, 1, name="begins", reset_less=False)
        self._divide(m, word, begins, total, delay(m, last, 1, name="ends_row_then"))
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m

    def _leave(self, m: Module) -> Value:
        """True if the last result of a row leaves."""
        leaves = Signal(name="leaves")
        m.d.comb += leaves.eq(self.fifo.o.valid & self.fifo.o.ready)
        return leaves & count(m, self.length, when=leaves, name="gone").last

    def _walk(self, m: Module, may_start: Value) -> tuple[Signal, Signal, Value, Signal]:
        """Read the elements of a row to be added up, then to be divided; return whether one is read, whether it is the
        first and the last of the row, and whether to be divided.
        """
        busy, dividing, reads = Signal(name="busy"), Signal(name="dividing"), Signal(name="reads")
        rows = self.rows
        m.d.comb += [
            rows.take.eq(~busy & may_start),
            rows.done.eq(busy & dividing & self._over(m, busy, dividing, reads)),
            rows.place.eq(self._at),
        ]
        with m.If(rows.take):
            m.d.sync += busy.eq(1)
        with m.If(rows.done):
            m.d.sync += busy.eq(0)
        first = Signal(name="first")
        m.d.comb += first.eq(self._at == 0)
        return reads, first, self._at_last, dividing

    def _over(self, m: Module, busy: Signal, dividing: Signal, reads: Signal) -> Value:
        """Count the cycles of an element, and elements; whether a row's elements end."""
        cycles = self.tables.divide_cycles
        step = Signal(range(max(cycles, ADD_CYCLES)), name="step")
        ends = Signal(name="element_ends")
        at = count(m, self.length, when=ends, name="at")
        self._at, self._at_last = at.value, at.last
        m.d.comb += [
            reads.eq(busy & (step == 0)),
            ends.eq(busy & (step == Mux(dividing, cycles - 1, ADD_CYCLES - 1))),
        ]
        with m.If(busy):
            m.d.sync += step.eq(Mux(ends, 0, step + 1))
        with m.If(ends & at.last):
            m.d.sync += dividing.eq(~dividing)
        return ends & at.last

    def _sum(self, m: Module, word: Value, comes: Value, first: Value) -> Value:
        """Add up exponentials as float32, each in ``word`` a cycle after it comes; return the sum in the unit of the
        greatest one's mantissa, a cycle late.
        """
        total, scale = exponential_sum(
            m, (self.rom.word, word), comes, first, exponent_bits=self.tables.exponent_bits
        )  # fmt: skip
        most = self.tables.most_exponent - self.tables.exponents[0]
        shift = Signal(range(most + 1) if most else 1, name="shift", reset_less=True)
        m.d.sync += shift.eq(scale - self.tables.exponents[0])
        return (total << shift)[: self.tables.total_bits]

    def _divide(self, m: Module, word: Value, comes: Value, total: Value, last: Value) -> None:
        """Divide the numerator in ``word`` by the ``total`` that is there when it comes, and round to a result."""
        tables, form, zero = self.tables, self._form, self._zero_point
        level = rounded_quotient(
            m,
            word[: tables.numerator_bits],
            comes,
            total,
            below=tables.fraction + tables.quotient_bits - 1,
            quotient_bits=tables.quotient_bits,
        )
        ends = Signal(name="ends_image", reset_less=True)
        with m.If(comes):
            m.d.sync += ends.eq(last)
        result = Signal(operand_shape(form), reset_less=True)
        most = form.max - zero
        m.d.sync += result.eq(Mux(level > most, form.max, level + zero))
        valid = delay(m, comes, tables.divide_cycles + _FINISH, name="divided_now", reset_less=False)
        m.d.comb += [
            self.fifo.i.valid.eq(valid),
            self.fifo.i.payload.data[0].eq(result),
            self.fifo.i.payload.last.eq(delay(m, ends, _FINISH, name="ends_then")),
        ]
