"""Layer normalization: rows of elements less their mean, by their deviation, in the integers of golden's operator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import network
from systoliq.golden.formats import signed_bits
from systoliq.golden.network.normalization import FRACTION

from ..counter import count
from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..rom import Rom
from ..timeline import Steps, Timeline
from .row_memory import RowMemory

__all__ = ["NormalizationWidths", "NormalizedRows"]

_DRAIN = 5  # cycles after the last element is read until it is added up
_FINISH = 5  # cycles from the last bit of a product to its result
_ROUNDED = ("kept", "level", "centred")  # a sum in whole steps; rounded; with its zero point


@dataclass(frozen=True)
class NormalizationWidths:
    """Bits of what a stage of ``node`` computes, and the cycles that follow from them."""

    node: network.LayerNormalization

    @cached_property
    def total(self) -> int:
        """Bits of a row's sum."""
        form, length = self.node.inputs[0].format, self.node.length
        return signed_bits(length * form.min, length * form.max)

    @cached_property
    def apart(self) -> int:
        """Bits of an element's distance to the mean, in units of 1 / length, without a sign."""
        form = self.node.inputs[0].format
        return ((self.node.length - 1) * (form.max - form.min)).bit_length()

    @cached_property
    def squares(self) -> int:
        """Bits of the sum of squares, times the length."""
        form, length = self.node.inputs[0].format, self.node.length
        return (length * length * max(form.min**2, form.max**2)).bit_length()

    @cached_property
    def least_variance(self) -> int:
        """The whole part of what epsilon adds to the variance; its fraction is added in the radicand."""
        return self.node.steps.offset >> 2 * self.node.steps.half

    @property
    def sum_of_squares(self) -> int:
        """Bits of the sum of squares, times the length, and of what epsilon adds."""
        return max(self.squares, self.least_variance.bit_length()) + 1

    @cached_property
    def radicand(self) -> int:
        """Bits of the radicand; even."""
        steps = self.node.steps
        bits = ((self.node.most_variance << 2 * steps.half) + steps.offset).bit_length()
        return bits + bits % 2

    @property
    def root(self) -> int:
        """Bits of the root."""
        return self.radicand // 2

    @cached_property
    def inverse(self) -> int:
        """Bits of the greatest inverse that is used: for the least variance that is not 0."""
        steps = self.node.steps
        least = math.isqrt((self.node.length - 1 << 2 * steps.half) + steps.offset)
        return ((1 << steps.dividend) // least).bit_length()

    @cached_property
    def product(self) -> int:
        """Bits of an element's distance times the inverse: at most the root of the length, and its rounding."""
        return math.isqrt(self.node.length).bit_length() + 1 + FRACTION + self.node.steps.drop

    @property
    def normal(self) -> int:
        """Bits of a normalized element."""
        return self.product - self.node.steps.drop

    @cached_property
    def gain(self) -> int:
        """Bits of a gain, without a sign."""
        return max(max(map(abs, self.node.steps.gains)).bit_length(), 1)

    @cached_property
    def shift(self) -> int:
        """Bits of a shift."""
        shifts = self.node.steps.shifts
        return signed_bits(min(shifts), max(shifts))

    @property
    def factor(self) -> int:
        """Bits of the longer factor that is multiplied bit by bit: a distance, or a gain."""
        return max(self.apart, self.gain)

    @property
    def element_cycles(self) -> int:
        """Cycles of an element."""
        return self.factor + 1

    @property
    def row_cycles(self) -> int:
        """Cycles from one row to the next: sums, the square of one, root, inverse, and products."""
        searches = self.total + self.root + self.inverse + 3
        return 1 + self.node.length + _DRAIN + searches + self.node.length * self.element_cycles


class NormalizedRows(wiring.Component):
    """Gives the normalized elements of each row of ``i``, one to a beat; ``last`` comes with the last of a row's that
    ended with it.

    While a row comes, one unit works on the row before: it adds up elements and squares, finds the root of the variance
    and its inverse bit by bit, and multiplies each element with the inverse and with its gain, a bit of both a cycle.
    There is room for two rows on either side.
    """

    namespace = True

    def __init__(self, node: network.LayerNormalization, *, cells: str, kind: str) -> None:
        self.node = node
        self.widths = NormalizationWidths(node)
        self.kind = kind
        self.lanes = 1
        x, y = node.inputs[0].format, node.output.format
        self.rows = RowMemory(x, length=node.length, cells=cells)
        self.squares = Rom(self._square_words(node), self.widths.squares, cells=cells, kind=f"{kind}_squares")
        words = [
            abs(gain) | (gain < 0) << self.widths.gain | shift % (1 << self.widths.shift) << self.widths.gain + 1
            for gain, shift in zip(node.steps.gains, node.steps.shifts, strict=True)
        ]
        self.gains = Rom(words, self.widths.gain + 1 + self.widths.shift, cells=cells, kind=f"{kind}_gains")
        beats = [y_beat(operand_shape(form), 1) for form in (x, y)]
        self.fifo = Fifo(beats[1], depth=RowMemory.results_of(node.length), cells=cells)
        super().__init__({"i": In(stream.Signature(beats[0])), "o": Out(stream.Signature(beats[1]))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        length, widths = self.node.length, self.widths
        starts = line.steps(len(taken) // length, gap=widths.row_cycles)
        done = line.following(starts, widths.row_cycles - 1)
        starts.after(self.rows.timed(line, taken, done), 0)
        made = line.steps(len(taken))
        row, place_of = np.divmod(np.arange(len(taken)), length)
        multiplies = widths.row_cycles - length * widths.element_cycles  # after the start
        flight = multiplies + self.rows.latency + 1 + 2 * widths.element_cycles + _FINISH
        made.after_some(starts, flight + place_of * widths.element_cycles, row)
        left = self.fifo.timed(line, made)
        starts.after_some(left, 1, (np.arange(len(starts)) - 1) * length - 1)  # two rows have room
        return left

    @staticmethod
    def _square_words(node: network.LayerNormalization) -> list[int]:
        """The square of each element times the length, by the element's bits."""
        form = node.inputs[0].format
        elements = [code - 256 if form.signed and code > form.max else code for code in range(256)]
        return [node.length * element**2 for element in elements]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name in ("rows", "squares", "gains", "fifo"):
            m.submodules[name] = place(getattr(self, name), platform)
        wiring.connect(m, wiring.flipped(self.i), self.rows.i)
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        leaves = Signal()
        m.d.comb += leaves.eq(self.fifo.o.valid & self.fifo.o.ready)
        left = leaves & count(m, self.node.length, when=leaves, name="gone").last
        vacant = Credit(m, 2, name="vacant", full=True, give=left, take=self.rows.take)

        adds, searches, multiplies, starts = self._walk(m, self.rows.complete & vacant.any)
        total, squares = self._sums(m, adds, self.rows.take)
        inverse = self._inverse(m, total, squares, *searches)
        self._products(m, multiplies, starts, total, inverse)
        return m

    def _walk(self, m: Module, may_start: Value) -> tuple[Signal, list[tuple[Signal, Signal]], Signal, Signal]:
        """Go through the parts of a row; return whether an element is read to be added up, for each of the three
        searches whether it begins and continues, and whether elements are multiplied, and one is read for it.
        """
        widths, rows, length = self.widths, self.rows, self.node.length
        adds, ends = Signal(name="adds"), Signal(name="element_ends")
        multiplies, starts = Signal(name="multiplies"), Signal(name="starts")
        at = count(m, length, when=adds | ends, name="at")
        durations = [_DRAIN, *(each + 1 for each in (widths.total, widths.root, widths.inverse))]
        step = Signal(range(max(*durations, widths.element_cycles)))
        searches = [(Signal(name=f"begins_{index}"), Signal(name=f"searches_{index}")) for index in range(3)]
        m.d.comb += [rows.place.eq(at.value), rows.read.eq(adds | starts)]
        self._at = at.value
        self._at_last = at.last
        self._element_ends = ends

        def until(cycles: int, then: str) -> None:
            with m.If(step == cycles - 1):
                m.d.sync += step.eq(0)
                m.next = then
            with m.Else():
                m.d.sync += step.eq(step + 1)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += rows.take.eq(may_start)
                with m.If(may_start):
                    m.next = "ADD"
            with m.State("ADD"):
                m.d.comb += adds.eq(1)
                with m.If(at.last):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                until(_DRAIN, "SQUARE")
            for index, (name, then) in enumerate((("SQUARE", "ROOT"), ("ROOT", "INVERT"), ("INVERT", "MULTIPLY"))):
                begins, goes_on = searches[index]
                with m.State(name):
                    m.d.comb += [begins.eq(step == 0), goes_on.eq(step != 0)]
                    until(durations[index + 1], then)
            with m.State("MULTIPLY"):
                m.d.comb += [
                    multiplies.eq(1),
                    starts.eq(step == 0),
                    ends.eq(step == widths.element_cycles - 1),
                    rows.done.eq(ends & at.last),
                ]
                m.d.sync += step.eq(Mux(ends, 0, step + 1))
                with m.If(rows.done):
                    m.next = "IDLE"
        return adds, searches, multiplies, starts

    def _sums(self, m: Module, adds: Signal, clear: Value) -> tuple[Signal, Signal]:
        """Add up the elements of a row, and their squares times the length, beginning with what epsilon adds."""
        widths, latency = self.widths, self.rows.latency
        total = Signal(signed(widths.total), name="total", reset_less=True)
        squares = Signal(widths.sum_of_squares, name="sum_of_squares", reset_less=True)
        m.d.comb += self.squares.address.eq(Value.cast(self.rows.element))
        with m.If(clear):
            m.d.sync += [total.eq(0), squares.eq(widths.least_variance)]
        with m.If(delay(m, adds, latency, name="adds_element", reset_less=False)):
            m.d.sync += total.eq(total + self.rows.element)
        with m.If(delay(m, adds, latency + self.squares.latency, name="adds_square", reset_less=False)):
            m.d.sync += squares.eq(squares + self.squares.word)
        return total, squares

    def _inverse(
        self,
        m: Module,
        total: Signal,
        squares: Signal,
        square: tuple[Signal, Signal],
        root: tuple[Signal, Signal],
        invert: tuple[Signal, Signal],
    ) -> Signal:
        """Square the sum, take the root of the variance, and divide by it: a bit a cycle each."""
        widths, steps = self.widths, self.node.steps
        size, factor = Signal(widths.total, name="size", reset_less=True), Signal(widths.total, name="factor")
        squared = Signal(2 * widths.total, name="squared", reset_less=True)
        with m.If(square[0]):
            m.d.sync += [
                size.eq(Mux(total < 0, -total, total)),
                factor.eq(Mux(total < 0, -total, total)),
                squared.eq(0),
            ]
        with m.If(square[1]):
            m.d.sync += [squared.eq((squared << 1) + Mux(factor[-1], size, 0)), factor.eq(factor << 1)]

        radicand = Signal(widths.radicand, name="radicand", reset_less=True)
        found, rest = Signal(widths.root, name="root", reset_less=True), Signal(widths.root + 2, name="root_rest")
        variance = Signal(widths.sum_of_squares)
        longer = Signal(widths.root + 4)
        less = Signal(signed(widths.root + 5))
        m.d.comb += [
            variance.eq(squares - squared),
            longer.eq(Cat(radicand[-2:], rest)),
            less.eq(longer - Cat(Const(1, 2), found)),
        ]
        fits = ~less[-1]
        fraction = Const(steps.offset % (1 << 2 * steps.half), 2 * steps.half)
        with m.If(root[0]):
            m.d.sync += [radicand.eq(Cat(fraction, variance)), found.eq(0), rest.eq(0)]
        with m.If(root[1]):
            m.d.sync += [
                radicand.eq(radicand << 2),
                rest.eq(Mux(fits, less, longer)),
                found.eq(Cat(fits, found)),
            ]

        inverse = Signal(widths.inverse, name="inverse", reset_less=True)
        below = widths.inverse - 1
        dividend = Signal(below + widths.root + 1, name="dividend", reset_less=True)
        difference = Signal(signed(widths.root + 2))
        m.d.comb += difference.eq(dividend[below:] - found)
        more = ~difference[-1]
        with m.If(invert[0]):
            m.d.sync += dividend.eq(1 << steps.dividend)
        with m.If(invert[1]):
            top = Mux(more, difference[: widths.root], dividend[below : below + widths.root])
            m.d.sync += [dividend.eq(Cat(Const(0, 1), dividend[:below], top)), inverse.eq(Cat(more, inverse))]
        return inverse

    def _products(self, m: Module, multiplies: Signal, starts: Signal, total: Signal, inverse: Signal) -> None:
        """Multiply elements with the inverse and with their gains, add their shifts, and round."""
        widths, steps, node = self.widths, self.node.steps, self.node
        latency, cycles = self.rows.latency, widths.element_cycles
        apart = Signal(signed(widths.apart + 1), reset_less=True)
        places = [k for k in range(node.length.bit_length()) if node.length >> k & 1]
        m.d.sync += apart.eq(sum(self.rows.element << k for k in places) - total)
        loads = delay(m, starts, latency + 1, name="loads", reset_less=False)
        negative, factor = Signal(name="negative", reset_less=True), Signal(widths.factor, name="distance")
        product = Signal(widths.product, name="product", reset_less=True)
        last = Signal(name="last_of_image", reset_less=True)
        m.d.sync += [product.eq((product << 1) + Mux(factor[-1], inverse, 0)), factor.eq(factor << 1)]
        ends = delay(m, self._at_last & self.rows.ends, latency + 1, name="ends_image")
        with m.If(loads):
            m.d.sync += [
                negative.eq(apart < 0), factor.eq(Mux(apart < 0, -apart, apart)), product.eq(0), last.eq(ends)
            ]  # fmt: skip

        place_before = Signal(range(max(node.length, 2)), reset_less=True)
        with m.If(self._element_ends):
            m.d.sync += place_before.eq(self._at)
        m.d.comb += self.gains.address.eq(place_before)
        word = delay(m, self.gains.word, 1, name="gain_and_shift")  # gains are read no slower than rows
        size, downward = word[: widths.gain], word[widths.gain]
        again = delay(m, loads, cycles, name="loads_again", reset_less=False)
        minus, gain = Signal(name="minus", reset_less=True), Signal(widths.factor, name="gain")
        normal = Signal(widths.normal, name="normal", reset_less=True)
        scaled = Signal(widths.normal + widths.gain, name="scaled", reset_less=True)
        shift = Signal(signed(widths.shift), name="shift", reset_less=True)
        last_then = Signal(name="last_then", reset_less=True)
        m.d.sync += [scaled.eq((scaled << 1) + Mux(gain[-1], normal, 0)), gain.eq(gain << 1)]
        with m.If(again):
            m.d.sync += [
                minus.eq(negative ^ downward), normal.eq(product[steps.drop :]), gain.eq(size), scaled.eq(0),
                shift.eq(word[widths.gain + 1 :].as_signed()), last_then.eq(last),
            ]  # fmt: skip
        self._round(m, delay(m, again, cycles, name="finishes", reset_less=False), minus, scaled, shift, last_then)

    def _round(self, m: Module, comes: Value, minus: Signal, scaled: Signal, shift: Signal, last: Signal) -> None:
        """Round a sum half to even, and saturate it."""
        output = self.node.output
        below = FRACTION + self.node.steps.gain_bits
        bits = max(len(scaled) + 1, len(shift), below + 1) + 1
        total = Signal(signed(bits), name="sum", reset_less=True)
        whole = signed(max(bits - below, len(Const(output.zero_point))) + 2)
        kept, level, centred = (Signal(whole, name=name, reset_less=True) for name in _ROUNDED)
        result = Signal(operand_shape(output.format), reset_less=True)
        up = Signal(reset_less=True)
        least, most = output.format.min, output.format.max
        m.d.sync += [
            total.eq(Mux(minus, shift - scaled, shift + scaled)),
            kept.eq(total[below:].as_signed()),
            up.eq(total[below - 1] & (total[: below - 1].any() | total[below])),
            level.eq(kept + up),
            centred.eq(level + output.zero_point),
            result.eq(Mux(centred < least, least, Mux(centred > most, most, centred))),
        ]
        m.d.comb += [
            self.fifo.i.valid.eq(delay(m, comes, _FINISH, name="valid", reset_less=False)),
            self.fifo.i.payload.data[0].eq(result),
            self.fifo.i.payload.last.eq(delay(m, last, _FINISH, name="last_result")),
        ]
