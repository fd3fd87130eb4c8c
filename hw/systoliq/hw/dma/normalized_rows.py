"""Layer normalization of rows in the buffer of the vector unit, in the integers of golden's `LayerNormalization`."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.network.normalization import FRACTION

from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..multiplier import WideMultiplier
from .registers import NORMALIZATION_REGISTERS, command_layout
from .row_core import core_ports, zero_point
from .vector_lane import saturated

__all__ = ["DROP", "GAIN_BITS", "RECORDS", "NormalizationCommand", "NormalizedRows", "Record", "search_cycles"]

GAIN_BITS = 2 * FRACTION - 10
"""Bits of a gain in steps of Y, with `FRACTION` bits behind the point: it is below 2^13."""
SHIFT_BITS = GAIN_BITS + FRACTION
DROP = 25
"""Bits of a product that are dropped."""
Record = data.StructLayout({"shift": 64, "gain": 64})
"""Gain and shift of a channel in memory, both signed, with `FRACTION` and twice as many bits behind the point."""
NormalizationCommand = command_layout(*NORMALIZATION_REGISTERS)
_VARIANCE = 66  # bits of the radicand of a short row; each doubling of the row's length adds one
_DRAIN = 10  # cycles after the last element is read until it is added up
RECORDS = 16
"""Records that wait."""


def search_cycles(longest: int, half: int, divides: int) -> int:
    """Cycles of a row from its last element that is added up to the first that is multiplied, and one to its start."""
    log = longest.bit_length() - 1
    searches = log + 8, half + 1, _root_bits(log), divides
    return 1 + _DRAIN + 1 + sum(each + 1 for each in searches)


def _root_bits(log: int) -> int:
    """Bits of a root, for rows of up to 2^log elements."""
    return -(-(_VARIANCE + log) // 2)


class NormalizedRows(wiring.Component):
    """Adds up a row's elements and their squares, one a cycle; finds the root of the variance and its inverse, bit by
    bit; then multiplies each element with the inverse and its gain, which come as records, in order.

    For the ports, see `core_ports`; ``code`` comes ``rows_latency`` cycles after ``read``. A ``record`` is a gain and a
    shift, one for each element.
    """

    def __init__(self, *, length: int, rows_latency: int, cells: str) -> None:
        self.length = length
        self.rows_latency = rows_latency
        self.cells = cells
        self.kind = f"normalized_rows_{length}"
        self.log = length.bit_length() - 1
        self.root_bits = _root_bits(self.log)
        code = self.log + 1  # bits of the length
        self.square = WideMultiplier(9, 8, cells=cells, kind="square_of_code")
        self.spread = WideMultiplier(code + 1, 8, cells=cells, kind="code_times_length")
        self.apart = [
            WideMultiplier(self.log + 9, DROP, cells=cells, kind=f"distance_times_inverse_{length}") for _ in range(2)
        ]
        self.normal_bits = self.log // 2 + 2 + FRACTION
        self.gain = WideMultiplier(GAIN_BITS, self.normal_bits, cells=cells, kind=f"gain_times_normal_{length}")
        self.fifo = Fifo(data.StructLayout({"shift": SHIFT_BITS, "gain": GAIN_BITS}), depth=RECORDS, cells=cells)
        super().__init__(
            core_ports(NormalizationCommand, length)
            | {"record": In(Record), "record_valid": In(1), "record_ready": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        blocks = {"square": self.square, "spread": self.spread, "gain": self.gain, "fifo": self.fifo}
        blocks |= {f"apart_{index}": block for index, block in enumerate(self.apart)}
        for name, block in blocks.items():
            m.submodules[name] = place(block, platform)
        came = Signal(name="record_came")
        m.d.comb += [
            came.eq(self.record_valid & self.fifo.i.ready),
            self.record_ready.eq(self.fifo.i.ready),
            self.fifo.i.valid.eq(self.record_valid),
            self.fifo.i.payload.shift.eq(self.record.shift),
            self.fifo.i.payload.gain.eq(self.record.gain),
        ]
        records = Credit(m, RECORDS + 2, name="records", full=False, give=came, take=self.begins)
        length = Signal(self.log + 1, name="row_length", reset_less=True)
        m.d.sync += length.eq(self.last_place + 1)
        adds, searches = self._walk(m, records.any & self.room)
        total, squares = self._sums(m, adds)
        kept = Signal(len(total), name="total_kept", reset_less=True)
        with m.If(searches["SQUARE"][0]):
            m.d.sync += kept.eq(total)
        variance = self._variance(m, total, squares, length, *searches["SQUARE"])
        root = self._root(m, variance, searches)
        inverse = self._inverse(m, root, *searches["INVERT"])
        self._products(m, kept, inverse, length)
        return m

    def _walk(self, m: Module, may_begin: Value) -> tuple[Signal, dict[str, tuple[Signal, Signal]]]:
        """Go through the parts of a row; return whether an element is read to be added up, and for each search whether
        it begins and continues.
        """
        adds = Signal(name="adds")
        at = Signal(range(self.length), name="at")
        final = at == self.last_place
        step = Signal(8, name="step")
        command = self.command
        names = ("SQUARE", "SCALE", "ROOT", "INVERT")
        searches = {
            name: (Signal(name=f"begins_{name.lower()}"), Signal(name=f"goes_{name.lower()}")) for name in names
        }
        steps = {
            "SQUARE": Const(self.log + 8, 8),
            "SCALE": command.half + 1,
            "ROOT": Const(self.root_bits, 8),
            "INVERT": command.divide + command.places,
        }
        m.d.comb += [
            self.place.eq(at),
            self.read.eq(adds | self.begins),
            self.done.eq(self.begins & final),
        ]
        with m.If(self.read):
            m.d.sync += at.eq(Mux(final, 0, at + 1))
        with m.FSM(name="part"):
            with m.State("IDLE"):
                m.d.comb += self.take.eq(self.complete)
                with m.If(self.complete):
                    m.next = "ADD"
            with m.State("ADD"):
                m.d.comb += adds.eq(1)
                with m.If(final):
                    m.d.sync += step.eq(0)
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.sync += step.eq(step + 1)
                with m.If(step == _DRAIN):
                    m.d.sync += step.eq(0)
                    m.next = "SQUARE"
            for name, then in zip(names, (*names[1:], "MULTIPLY"), strict=True):
                begins, goes = searches[name]
                with m.State(name):
                    m.d.comb += [begins.eq(step == 0), goes.eq(step != 0)]
                    m.d.sync += step.eq(step + 1)
                    with m.If(step == steps[name]):
                        m.d.sync += step.eq(0)
                        m.next = then
            with m.State("MULTIPLY"):
                m.d.comb += self.begins.eq(may_begin)
                with m.If(self.done):
                    m.next = "IDLE"
        return adds, searches

    def _sums(self, m: Module, adds: Signal) -> tuple[Signal, Signal]:
        """Add up the codes of a row, and their squares."""
        total = Signal(self.log + 8, name="total", reset_less=True)
        squares = Signal(self.log + 16, name="sum_of_squares", reset_less=True)
        m.d.comb += [self.square.a.eq(self.code), self.square.b.eq(self.code)]
        with m.If(self.take):
            m.d.sync += [total.eq(0), squares.eq(0)]
        with m.If(delay(m, adds, self.rows_latency, name="adds_code", reset_less=False)):
            m.d.sync += total.eq(total + self.code)
        later = self.rows_latency + self.square.latency
        with m.If(delay(m, adds, later, name="adds_square", reset_less=False)):
            m.d.sync += squares.eq(squares + self.square.product[:16])
        return total, squares

    def _variance(
        self, m: Module, total: Signal, squares: Signal, length: Signal, begins: Signal, goes: Signal
    ) -> Value:
        """The squares times the length, less the square of the sum: a bit of both factors a cycle."""
        bits = self.log + 8
        by_length, squared = (
            Signal(size, name=name, reset_less=True)
            for name, size in (("squares_times_length", 2 * self.log + 16), ("squared", 2 * bits))
        )
        factors = [Signal(bits, name=f"factor_of_{name}", reset_less=True) for name in ("squares", "sum")]
        with m.If(begins):
            m.d.sync += [by_length.eq(0), squared.eq(0), factors[0].eq(length), factors[1].eq(total)]
        with m.If(goes):
            m.d.sync += [
                by_length.eq((by_length << 1) + Mux(factors[0][-1], squares, 0)),
                squared.eq((squared << 1) + Mux(factors[1][-1], total, 0)),
                *(each.eq(each << 1) for each in factors),
            ]
        return (by_length - squared)[: 2 * self.log + 14]

    def _root(self, m: Module, variance: Value, searches: dict[str, tuple[Signal, Signal]]) -> Signal:
        """The root of the variance times 4^half and what epsilon adds, a bit a cycle."""
        command, bits = self.command, 2 * self.root_bits
        radicand = Signal(bits, name="radicand", reset_less=True)
        found = Signal(self.root_bits, name="root", reset_less=True)
        rest = Signal(self.root_bits + 2, name="root_rest", reset_less=True)
        halves = Signal(5, name="halves", reset_less=True)
        begins, goes = searches["SCALE"]
        with m.If(begins):
            m.d.sync += [radicand.eq(variance), halves.eq(command.half)]
        with m.If(goes & halves.any()):
            m.d.sync += [radicand.eq(radicand << 2), halves.eq(halves - 1)]
        longer = Signal(self.root_bits + 4, name="longer")
        less = Signal(signed(self.root_bits + 5), name="less")
        m.d.comb += [longer.eq(Cat(radicand[-2:], rest)), less.eq(longer - Cat(Const(1, 2), found))]
        fits = ~less[-1]
        begins, goes = searches["ROOT"]
        with m.If(begins):
            m.d.sync += [radicand.eq(radicand + Cat(command.epsilon, command.more_epsilon)), found.eq(0), rest.eq(0)]
        with m.If(goes):
            m.d.sync += [radicand.eq(radicand << 2), rest.eq(Mux(fits, less, longer)), found.eq(Cat(fits, found))]
        return found

    def _inverse(self, m: Module, root: Signal, begins: Signal, goes: Signal) -> Signal:
        """2^dividend / root, a bit a cycle, with zeros behind it where fewer bits than `DROP` are dropped."""
        command = self.command
        inverse = Signal(2 * DROP, name="inverse", reset_less=True)
        rest = Signal(self.root_bits, name="inverse_rest", reset_less=True)
        left = Signal(7, name="bits_left", reset_less=True)
        one = Signal(name="one", reset_less=True)  # the dividend's only bit
        coming = Cat(one, rest)
        difference = Signal(signed(self.root_bits + 2), name="inverse_difference")
        m.d.comb += difference.eq(coming - root)
        fits = ~difference[-1] & left.any()
        with m.If(begins):
            m.d.sync += [rest.eq(0), one.eq(1), left.eq(command.divide)]
        with m.If(goes):
            m.d.sync += [
                one.eq(0),
                rest.eq(Mux(difference[-1], coming, difference)),
                inverse.eq(Cat(fits, inverse)),
                left.eq(Mux(left.any(), left - 1, 0)),
            ]
        return inverse

    def _products(self, m: Module, total: Signal, inverse: Signal, length: Signal) -> None:
        """Multiply elements with the inverse and with their gains, add their shifts, and round."""
        apart = Signal(signed(self.log + 10), name="apart", reset_less=True)
        m.d.comb += [self.spread.a.eq(length), self.spread.b.eq(self.code)]
        m.d.sync += apart.eq(self.spread.product - total)
        size = Signal(self.log + 8, name="size", reset_less=True)
        m.d.sync += size.eq(Mux(apart < 0, -apart, apart))
        for block, factor in zip(self.apart, (inverse[:DROP], inverse[DROP:]), strict=True):
            m.d.comb += [block.a.eq(size), block.b.eq(factor)]
        low, high = (block.product for block in self.apart)
        normal = Signal(self.normal_bits, name="normal", reset_less=True)
        m.d.sync += normal.eq(high + (low >> DROP))
        to_size = self.rows_latency + self.spread.latency + 2
        to_normal = self.apart[0].latency + 1
        negative = delay(m, apart[-1], to_normal + 1 + self.gain.latency, name="negative")
        begun = delay(m, self.begins, to_size + to_normal, name="begun", reset_less=False)
        m.d.comb += [
            self.fifo.o.ready.eq(begun),
            self.gain.a.eq(self.fifo.o.payload.gain),
            self.gain.b.eq(normal),
        ]
        shift = delay(m, self.fifo.o.payload.shift, self.gain.latency, name="shift_then").as_signed()
        total = Signal(signed(len(self.gain.product) + 1), name="sum", reset_less=True)
        m.d.sync += total.eq(Mux(negative, shift - self.gain.product, shift + self.gain.product))
        finish = self._round(m, total)
        flight = to_size + to_normal + self.gain.latency + 1 + finish
        final = delay(m, self.done, flight, name="final")
        m.d.comb += [
            self.valid.eq(delay(m, begun, self.gain.latency + 1 + finish, name="finished", reset_less=False)),
            self.last.eq(final),
        ]

    def _round(self, m: Module, total: Signal) -> int:
        """Round a sum half to even, add the zero point, and saturate; return the cycles."""
        command, below = self.command, 2 * FRACTION
        kept = Signal(signed(len(total) - below), name="kept", reset_less=True)
        level = Signal(signed(len(total) - below + 1), name="level", reset_less=True)
        centred = Signal(signed(len(total) - below + 2), name="centred", reset_less=True)
        up = Signal(name="up", reset_less=True)
        zero = zero_point(m, command.zero_point, command.unsigned_y)
        m.d.sync += [
            kept.eq(total[below:].as_signed()),
            up.eq(total[below - 1] & (total[: below - 1].any() | total[below])),
            level.eq(kept + up),
            centred.eq(level + zero),
        ]
        m.d.sync += self.y.eq(saturated(centred, command.unsigned_y))
        return 4
