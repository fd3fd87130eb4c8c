"""Softmax of rows in the buffer of the vector unit, with the roundings of golden's `Softmax`."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from ..block_ram import BlockRam
from ..delay import delay
from ..float32 import FLOAT32_BITS
from ..hierarchy import place
from ..network.softmax_steps import ADD_CYCLES, LEVEL_CYCLES, exponential_sum, rounded_quotient
from .registers import SOFTMAX_REGISTER, command_layout
from .row_core import core_ports, zero_point

__all__ = ["BELOW", "EXPONENT_BITS", "NUMERATOR_BITS", "QUOTIENT_BITS", "RECORD", "SoftmaxCommand", "SoftmaxRows"]

QUOTIENT_BITS = 17
"""Most bits of a quotient: golden takes up to 2^16 levels."""
EXPONENT_BITS = 8
FRACTION_BITS = QUOTIENT_BITS + 1
BELOW = FRACTION_BITS + QUOTIENT_BITS - 1
"""Bits of a numerator that are not whole."""
NUMERATOR_BITS = FLOAT32_BITS + BELOW + 1
RECORD = data.StructLayout({"numerator": 64, "mantissa": FLOAT32_BITS, "exponent": EXPONENT_BITS, "spare": 32})
"""An entry of the table in memory: for each distance from a row's greatest element, the exponential and a numerator."""
SoftmaxCommand = command_layout(SOFTMAX_REGISTER)
_FINISH = LEVEL_CYCLES + 1  # cycles from the last bit of a quotient to its result


class SoftmaxRows(wiring.Component):
    """Adds up the exponentials of a row's elements, one each `ADD_CYCLES`, and then divides each by the sum, bit by
    bit.

    For the ports, see `core_ports`; ``code`` comes ``rows_latency`` cycles after ``read``. ``greatest`` is the greatest
    code of the row. ``load`` writes an entry of the table, ``at`` its distance.
    """

    def __init__(self, *, length: int, rows_latency: int, cells: str) -> None:
        self.length = length
        self.rows_latency = rows_latency
        self.kind = f"softmax_rows_{length}"
        entry = FLOAT32_BITS + EXPONENT_BITS + NUMERATOR_BITS
        self.ram = BlockRam(entry, depth=256, cells=cells)
        super().__init__(
            core_ports(SoftmaxCommand, length) | {"greatest": In(8), "load": In(1), "at": In(8), "record": In(RECORD)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram, record = self.ram, self.record
        m.submodules.ram = place(ram, platform)
        look_up = self.rows_latency + 1 + ram.latency  # from reading an element to its entry
        dividing, first, final = self._walk(m)
        below = Signal(8, name="below", reset_less=True)
        m.d.sync += below.eq(self.greatest - self.code)
        m.d.comb += [
            ram.write.eq(self.load),
            ram.write_address.eq(self.at),
            ram.write_data.eq(Cat(record.mantissa, record.exponent, record.numerator[:NUMERATOR_BITS])),
            ram.read.eq(delay(m, self.read, self.rows_latency + 1, name="looks_up", reset_less=False)),
            ram.read_address.eq(below),
        ]
        comes = delay(m, self.read, look_up, name="comes", reset_less=False)
        divided = delay(m, dividing, look_up, name="divided")
        entry = delay(m, ram.read_data, 1, name="entry_then")
        of_first = delay(m, first, look_up, name="of_first")
        total, scale = exponential_sum(
            m, (ram.read_data, entry), comes & ~divided, of_first, exponent_bits=EXPONENT_BITS
        )  # fmt: skip
        shift = Signal(range(self.length.bit_length() + 1), name="shift", reset_less=True)
        m.d.sync += shift.eq(scale - self.command.exponent)
        whole = (total << shift)[: FLOAT32_BITS + self.length.bit_length()]
        begins = delay(m, comes & divided, 1, name="begins_division", reset_less=False)
        numerator = entry[FLOAT32_BITS + EXPONENT_BITS :]
        level = rounded_quotient(
            m, numerator, begins, whole, below=BELOW, quotient_bits=QUOTIENT_BITS, clears=True
        )  # fmt: skip
        final, last = delay(m, final, look_up + 1, name="final_then"), Signal(name="of_last", reset_less=True)
        with m.If(begins):
            m.d.sync += last.eq(final)
        self._results(m, level, begins, last)
        return m

    def _walk(self, m: Module) -> tuple[Signal, Value, Value]:
        """Read the elements of a row to be added up, then to be divided; return whether to be divided, and whether an
        element is the first and the last of the row.
        """
        busy, dividing, ends = Signal(name="busy"), Signal(name="dividing"), Signal(name="element_ends")
        step = Signal(range(QUOTIENT_BITS + 2), name="step")
        at = Signal(range(self.length), name="at_place")
        final = at == self.last_place
        goes = Signal(name="goes")  # a step, the first of which may have to wait
        m.d.comb += [
            goes.eq(busy & (~dividing | (step != 0) | self.room)),
            self.read.eq(goes & (step == 0)),
            self.begins.eq(self.read & dividing),
            ends.eq(goes & (step == Mux(dividing, self.command.quotient_bits + 1, ADD_CYCLES - 1))),
            self.take.eq(~busy & self.complete),
            self.done.eq(ends & dividing & final),
            self.place.eq(at),
        ]
        with m.If(goes):
            m.d.sync += step.eq(Mux(ends, 0, step + 1))
        with m.If(ends):
            m.d.sync += at.eq(Mux(final, 0, at + 1))
            with m.If(final):
                m.d.sync += [dividing.eq(~dividing), busy.eq(~dividing)]
        with m.If(self.take):
            m.d.sync += busy.eq(1)
        return dividing, at == 0, final

    def _results(self, m: Module, level: Value, begins: Value, last: Value) -> None:
        """Add the zero point to levels, and saturate them, once their bits are there."""
        command = self.command
        left = Signal(range(QUOTIENT_BITS + 2), name="bits_left")
        ended = Signal(name="quotient_ends")
        m.d.comb += ended.eq(left == 1)
        with m.If(begins):
            m.d.sync += left.eq(command.quotient_bits + 1)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        sum_ = level + zero_point(m, command.zero_point, command.unsigned)  # at least the format's least
        beyond = ~sum_[-1] & (sum_[8:-1].any() | (sum_[7] & ~command.unsigned))
        limit = Cat(Const(0x7F, 7), command.unsigned)
        m.d.sync += self.y.eq(Mux(beyond, limit, sum_[:8]))
        m.d.comb += [
            self.valid.eq(delay(m, ended, _FINISH + 1, name="divided_now", reset_less=False)),
            self.last.eq(delay(m, last, _FINISH, name="last_then")),
        ]
