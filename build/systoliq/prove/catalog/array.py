"""Proofs of the array: multiply-accumulate, processing element, and a whole array with overlapping drain."""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.golden.formats import IntFormat
from systoliq.hw.array import SystolicArray
from systoliq.hw.config import ArrayConfig
from systoliq.hw.delay import delay
from systoliq.hw.mac import Mac, operand_layout, together
from systoliq.hw.processing_element import ProcessingElement
from systoliq.hw.skew import Skew

from ..property import Bounded, Induction, Property, SeededBug, Unbounded

__all__ = ["PROPERTIES", "MacHarness", "config_of", "mac"]


def _sum_of_products(m: Module, config: ArrayConfig, a: Value, b: Value, first: Value, name: str) -> Signal:
    """The sum since ``first``, the operands of this cycle included, modulo ``2**accumulator_bits``."""
    before = Signal(signed(config.accumulator_bits), name=f"{name}_before", reset_less=True)
    now = Signal(signed(config.accumulator_bits), name=f"{name}_now")
    m.d.comb += now.eq(sum((a[i] * b[i] for i in range(config.depth)), Mux(first, 0, before)))
    m.d.sync += before.eq(now)
    return now


def config_of(
    rows: int = 1,
    cols: int = 1,
    depth: int = 1,
    bits: int = 8,
    accumulator_bits: int = 32,
    *,
    signs: str = "ss",
    cells: str = "portable",
) -> ArrayConfig:
    """An array with operands A and B of ``bits`` bits, each of ``signs`` "s" (signed) or "u"."""
    a, b = (IntFormat(bits, sign == "s") for sign in signs)
    return ArrayConfig(rows=rows, cols=cols, depth=depth, a=a, b=b, accumulator_bits=accumulator_bits, cells=cells)


class MacHarness(wiring.Component):
    """The sum of products, ``latency`` cycles after the operands, from the first ``clear`` on; of each column."""

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        b = data.ArrayLayout(operand_layout(config.b, config.depth), Mac.columns_of(config))
        super().__init__({"a": In(operand_layout(config.a, config.depth)), "b": In(b), "first": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, columns = self.config, Mac.columns_of(self.config)
        latency = Mac.latency_of(config) + Mac.spread_of(config)
        m.submodules.dut = dut = Mac(config)
        clear = delay(m, self.first, Mac.clear_delay_of(config), name="clear")
        m.d.comb += dut.clear.eq(clear)
        for i in range(config.depth):
            late = i * Mac.skew_of(config)
            m.d.comb += dut.a[i].eq(delay(m, self.a[i], late + columns - 1, name=f"a_{i}"))
            for column in range(columns):
                operand = delay(m, self.b[column][i], late + column, name=f"b_{column}_{i}")
                m.d.comb += dut.b[column * config.depth + i].eq(operand)
        begun = Signal(reset_less=True)  # before its first ``clear`` a sum is unknown: cells' registers hold anything
        m.d.sync += begun.eq(begun | self.first)
        known = delay(m, begun | self.first, latency, name="known")
        shown = together(m, dut.sum, Mac.parts_of(config), name="shown")
        for column in range(columns):
            found = shown.word_select(column, config.accumulator_bits).as_signed()
            total = _sum_of_products(m, config, self.a, self.b[column], self.first, f"total_{column}")
            expected = delay(m, total, latency, name=f"expected_{column}")
            m.d.comb += [Assert(~known | (found == expected)), Cover(known & (found > 1) & clear)]
        return m


class ElementHarness(wiring.Component):
    """One processing element: captures a sum, keeps it until the next, inserts it into the drain chain on request."""

    def __init__(self, config: ArrayConfig, *, top: bool) -> None:
        self.config = config
        self.top = top
        super().__init__(
            {
                "a": In(operand_layout(config.a, config.depth)),
                "b": In(operand_layout(config.b, config.depth)),
                "first": In(1),
                "last": In(1),
                "insert": In(1),
                "drain": In(signed(config.accumulator_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        m.submodules.dut = dut = ProcessingElement(config, top=self.top)
        total = _sum_of_products(m, config, self.a, self.b, self.first, "total")
        expected = delay(m, total, Mac.latency_of(config), name="expected")
        capture = delay(m, self.last, Mac.latency_of(config), name="capture")
        m.d.comb += [
            dut.a.eq(self.a),
            dut.b.eq(self.b),
            dut.clear.eq(delay(m, self.first, Mac.clear_delay_of(config), name="clear")),
            dut.capture.eq(capture),
        ]
        kept = Signal(signed(config.accumulator_bits), reset_less=True)
        age = Signal(2)  # of the captured sum
        m.d.sync += age.eq(Mux(capture, 1, Mux((age == 0) | (age == 3), age, age + 1)))
        with m.If(capture):
            m.d.sync += kept.eq(expected)
        for name in ("a", "b", "clear", "capture"):
            here, onward = Value.cast(getattr(dut, name)), Value.cast(getattr(dut, f"{name}_next"))
            before = delay(m, here, 1, name=f"{name}_before", reset_less=True)
            m.d.comb += Assert(onward == before)
        if self.top:
            m.d.comb += [Assert(dut.drain_next == kept), Cover((dut.drain_next < 0) & (age == 3))]
        else:
            chain = Signal(signed(config.accumulator_bits), reset_less=True)
            m.d.sync += chain.eq(Mux(self.insert, kept, self.drain))
            m.d.comb += [
                dut.drain.eq(self.drain),
                dut.insert.eq(self.insert),
                Assert(dut.drain_next == chain),
                Assert(dut.insert_next == delay(m, self.insert, 1, name="insert_before")),
                Cover((dut.drain_next < 0) & (age == 3) & dut.insert_next),
            ]
        return m


class ArrayHarness(wiring.Component):
    """A whole array with its skews: tile after tile of any length, with pauses, drained while the next one runs."""

    def __init__(self, config: ArrayConfig, *, interval: int = 1) -> None:
        self.config = config
        self.interval = interval
        self._a = data.ArrayLayout(operand_layout(config.a, config.depth), config.rows)
        self._b = data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)
        super().__init__({"beat": In(1), "a": In(self._a), "b": In(self._b), "first": In(1), "last": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, spacing = self.config, self.config.rows * self.interval
        m.submodules.dut = dut = SystolicArray(config, interval=self.interval)
        word = Signal(self._a)
        with m.If(self.beat):
            m.d.comb += word.eq(self.a)
        for name, layout, value in (("a", self._a, word), ("b", self._b, self.b)):
            m.submodules[f"skew_{name}"] = skew = Skew(layout, kind=f"skew_{name}")
            m.d.comb += [skew.word.eq(value), getattr(dut, name).eq(skew.out)]
        first, last = self.first & self.beat, self.last & self.beat
        m.d.comb += [dut.first.eq(first), dut.last.eq(last)]
        # Cycles since the last beat of the tile before, tiles ended. Reset ends all tiles, and may come at any time.
        since = Signal(range(spacing + 1), init=spacing)
        m.d.sync += since.eq(Mux(last, 1, Mux(since == spacing, since, since + 1)))
        begun = Signal()
        m.d.sync += begun.eq(begun | first)
        m.d.comb += Assume(~last | ((since == spacing) & (begun | first)))
        ends = Signal(2)
        m.d.sync += ends.eq(Mux(ends == 3, ends, ends + last))
        for row in range(config.rows):
            for col in range(config.cols):
                total = _sum_of_products(m, config, word[row], self.b[col], first, f"total_{row}_{col}")
                way = dut.latency + row * self.interval + col
                snapshot = delay(m, total, way, name=f"snapshot_{row}_{col}")
                shown = delay(m, last, way, name=f"shown_{row}_{col}", reset_less=False)
                with m.If(shown):
                    m.d.comb += Assert(dut.sums[col] == snapshot)
        m.d.comb += Cover(shown & (dut.sums[config.cols - 1] < 0) & (ends >= 2))
        return m


def mac(
    config: ArrayConfig,
    bug: SeededBug,
    *,
    quick: bool = False,
    harness: Callable[[ArrayConfig], wiring.Component] = MacHarness,
) -> Property:
    """Property: the multiply-accumulate for ``config`` adds up products; ``bug`` is in the form for its cells.

    Three correct cycles after the whole sum's latency, every pipeline register depends on observed inputs, and an
    accumulator on observed outputs.
    """
    cells = "" if config.cells == "portable" else f"{config.cells} "
    return Property(
        name=(
            f"{cells}multiply-accumulate {config.a.name} x {config.b.name}, depth {config.depth}, "
            f"{config.accumulator_bits} bits"
        ),
        claim="the sum is that of all products since the first, modulo its width, at the stated latency",
        harness=lambda: harness(config),
        method=Induction(Mac.latency_of(config) + Mac.spread_of(config) + 3),
        bug=bug,
        quick=quick,
    )


def _element(*, top: bool) -> Property:
    return Property(
        name=f"processing element, {'top' if top else 'below the top'}",
        claim="captures the sum, keeps it until the next capture, and drains it, or what comes from above",
        harness=lambda: ElementHarness(config_of(bits=2, accumulator_bits=5), top=top),
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(module="processing_element", old="delay(m, self.capture,", new="delay(m, self.clear,"),
    )


_ROW_KEPT = SeededBug(module="array", old="Mux(whole, 0, row + 1)", new="Mux(whole, 0, row)")
_INSERTED_EARLY = SeededBug(module="array", old="capture, 1 + self.interval", new="capture, self.interval")


def _array(config: ArrayConfig, *, interval: int, cycles: int, quick: bool = False) -> Property:
    return Property(
        name=(
            f"array, {config.rows} x {config.cols}, depth {config.depth}, {config.accumulator_bits} bits, "
            f"drained every {interval}"
        ),
        claim="every sum of every tile appears at the bottom in its cycle, tiles back to back or with pauses",
        harness=lambda: ArrayHarness(config, interval=interval),
        method=Bounded(cycles),
        bug=_INSERTED_EARLY if interval > 1 else _ROW_KEPT,
        quick=quick,
    )


_SECOND_TERM_DROPPED = SeededBug(module="mac.fabric", old="return a + b", new="return a")

PROPERTIES = (
    mac(config_of(depth=2, bits=3, accumulator_bits=8), _SECOND_TERM_DROPPED, quick=True),
    mac(config_of(depth=4, signs="uu", accumulator_bits=24), _SECOND_TERM_DROPPED),
    _element(top=True),
    _element(top=False),
    _array(config_of(rows=2, cols=2, bits=2, accumulator_bits=6), interval=1, cycles=16, quick=True),
    _array(config_of(rows=3, cols=2, bits=2, accumulator_bits=5), interval=1, cycles=18),
    _array(config_of(rows=2, cols=2, depth=2, bits=2, accumulator_bits=6), interval=2, cycles=18),
    _array(config_of(rows=2, cols=2, bits=2, accumulator_bits=26), interval=1, cycles=14),
    _array(config_of(rows=2, cols=1, bits=2, accumulator_bits=26), interval=2, cycles=14),
)
