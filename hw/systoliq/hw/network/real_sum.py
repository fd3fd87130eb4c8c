"""Real sum: numbers by a table, added up in float32, and the result by the position of the sum among thresholds."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network.real_sums import RealSums

from ..delay import delay
from ..hierarchy import place
from ..multiplier import WideMultiplier
from ..rom import Rom
from .lookup import by_bits

__all__ = ["ADDITION", "RealSum", "rounded_to_24_bits"]

ADDITION = 2
"""Cycles of an addition: the next pixel of a window must not come earlier."""

_SIGNIFICANT = 24


class RealSum(wiring.Component):
    """``y`` for a window whose last pixel came ``latency`` cycles ago, as `RealSums.apply` has it.

    ``x`` is a pixel, as the bits of a code of ``operand``, in a cycle with ``comes``; ``first`` begins a window. Pixels
    are at least `ADDITION` cycles apart. Where ``sums`` have weights, ``table`` and ``shift`` are the pixel's, and
    ``zero`` is 1 where its weight is 0. No reset.
    """

    def __init__(self, sums: RealSums, operand: IntFormat, *, cells: str, lane_cells: str, kind: str) -> None:
        self.sums = sums
        self.kind = kind
        bits = signed_bits(*(entry for table in sums.tables for entry in table))
        words = [entry % (1 << bits) for table in sums.tables for entry in by_bits(table, operand)]
        self._entries = Rom(words, bits, cells=cells, kind=f"{kind}_entries")
        thresholds = [threshold % (1 << sums.bits) for threshold in sums.thresholds]
        self._thresholds = Rom(thresholds, sums.bits, cells=cells, kind=f"{kind}_thresholds")
        multiplier_bits = max(sums.multiplier.bit_length(), 1)
        kept = max(sums.bits - sums.drop, 2)
        self._estimate = WideMultiplier(kept, multiplier_bits, cells=lane_cells, kind=f"{kind}_estimate")
        shifts = max((shift for _, shift in sums.weights.values()), default=0)
        weight = {"table": In(range(max(len(sums.tables), 2))), "shift": In(range(shifts + 1)), "zero": In(1)}
        ports = {"x": In(8), "comes": In(1), "first": In(1), "y": Out(8)}
        super().__init__({**ports, **(weight if sums.weights else {})})

    @property
    def latency(self) -> int:
        """Entry, addition, estimate, its zero point and saturation, threshold, comparison."""
        return self._entries.latency + ADDITION + self._estimate.latency + 2 + self._thresholds.latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sums, output = self.sums, self.sums.output
        m.submodules.entries = place(self._entries, platform)
        m.submodules.estimate = place(self._estimate, platform)
        m.submodules.thresholds = place(self._thresholds, platform)
        total = self._add(m)
        m.d.comb += [self._estimate.a.eq(total >> sums.drop), self._estimate.b.eq(sums.multiplier)]
        line = (self._estimate.product >> sums.shift) + (sums.zero_point - output.min)
        line = delay(m, line, 1, name="line").as_signed()
        place_of = Signal(8, name="place", reset_less=True)  # of the estimate among the results
        m.d.sync += place_of.eq(Mux(line < 0, 0, Mux(line > 254, 254, line)))
        m.d.comb += self._thresholds.address.eq(place_of)
        waits = self._thresholds.latency
        total = delay(m, total, self._estimate.latency + 2 + waits, name="total").as_signed()
        beyond = total >= self._thresholds.word.as_signed()
        y = Signal(8, reset_less=True)
        m.d.sync += y.eq(delay(m, place_of, waits, name="estimated") + beyond + output.min)
        m.d.comb += self.y.eq(y)
        return m

    def _add(self, m: Module) -> Signal:
        """The sum so far: an entry is added in one cycle, and rounded in the next."""
        waits = self._entries.latency
        m.d.comb += self._entries.address.eq(Cat(self.x, self.table) if self.sums.weights else self.x)
        entry = self._entries.word.as_signed()
        if self.sums.weights:
            shift, zero = (delay(m, port, waits, name=name) for port, name in ((self.shift, "by"), (self.zero, "no")))
            entry = Mux(zero, 0, entry << shift)
        comes = delay(m, self.comes, waits, name="comes", reset_less=False)
        first = delay(m, self.first, waits, name="first")
        exact = Signal(signed(self.sums.bits), reset_less=True)
        rounded = Signal(signed(self.sums.bits), reset_less=True)
        with m.If(comes):
            m.d.sync += exact.eq(Mux(first, 0, rounded) + entry)
        with m.If(delay(m, comes, 1, name="added", reset_less=False)):
            m.d.sync += rounded.eq(rounded_to_24_bits(m, exact))
        return rounded


def rounded_to_24_bits(m: Module, total: Signal) -> Value:
    """Return ``total``, signed, rounded to 24 significant bits, half to even, as an addition in float32 does."""
    over = len(total) - 1 - _SIGNIFICANT  # bits beyond the significant ones, without the sign
    if over <= 0:
        return total
    magnitude = Signal(len(total) - 1)  # one less where negative: only powers of two have more bits, and those stay
    dropped = Signal(over)  # ones for the bits that are rounded away
    m.d.comb += [
        magnitude.eq(total[:-1] ^ total[-1].replicate(len(total) - 1)),
        dropped.eq(Cat(magnitude[_SIGNIFICANT + index :].any() for index in range(over))),
    ]
    last = Cat(dropped, 0) ^ Cat(1, dropped)  # the least bit that is kept
    odd = (total[: over + 1] & last).any() & dropped[0]
    wide = Signal(signed(len(total)))
    m.d.comb += wide.eq(total + Cat(dropped[1:], 0) + odd)
    return Cat(wide[:over] & ~dropped, wide[over:]).as_signed()
