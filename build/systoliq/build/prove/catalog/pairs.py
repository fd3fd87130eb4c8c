"""Proofs of the multiply-accumulate of two columns, which share one operand and one cell."""

from __future__ import annotations

from amaranth.hdl import Assert, Cat, Cover, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.config import ArrayConfig
from systoliq.hw.delay import delay
from systoliq.hw.mac import Mac, operand_layout

from ..property import FromAnyState, Induction, Property, SeededBug
from .array import config_of, sum_of_products

__all__ = ["PROPERTIES"]


class PairHarness(wiring.Component):
    """Two sums of products, ``latency`` cycles after the operands, from the first ``clear`` on."""

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        b = operand_layout(config.b, config.depth)
        super().__init__(
            {"a": In(operand_layout(config.a, config.depth)), "b": In(data.ArrayLayout(b, 2)), "first": In(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        m.submodules.dut = dut = Mac(config)
        latency, depth = Mac.latency_of(config), config.depth
        m.d.comb += dut.clear.eq(delay(m, self.first, Mac.clear_delay_of(config), name="clear"))
        for i in range(depth):
            skew = i * Mac.skew_of(config)
            m.d.comb += [
                dut.a[i].eq(delay(m, self.a[i], skew + 1, name=f"a_{i}")),
                dut.b[i].eq(delay(m, self.b[0][i], skew, name=f"b_0_{i}")),
                dut.b[depth + i].eq(delay(m, self.b[1][i], skew + 1, name=f"b_1_{i}")),
            ]
        totals = [
            Value.cast(sum_of_products(m, config, self.a, self.b[column], self.first, f"total_{column}"))
            for column in range(2)
        ]
        begun = Signal(reset_less=True)  # before its first ``clear`` a sum is unknown: cells' registers hold anything
        m.d.sync += begun.eq(begun | self.first)
        known = delay(m, begun | self.first, latency, name="known")
        expected = delay(m, Cat(totals), latency, name="expected")
        bits = config.accumulator_bits
        m.d.comb += [
            Assert(~known | (dut.sum == expected.as_signed())),
            Cover(known & (dut.sum[:bits] != dut.sum[bits:]) & (dut.sum[bits:] > 1) & dut.clear),
        ]
        return m


class SplitHarness(wiring.Component):
    """The same where every cycle begins new sums, which are then single products: without feedback, for full width."""

    def __init__(self, config: ArrayConfig) -> None:
        self.pair = PairHarness(config)
        self.latency = Mac.latency_of(config) + 1  # and a cycle until the sums are known
        super().__init__({"a": In(self.pair.a.shape()), "b": In(self.pair.b.shape())})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pair = self.pair
        m.d.comb += [self.pair.a.eq(self.a), self.pair.b.eq(self.b), self.pair.first.eq(1)]
        return m


_BORROWED = SeededBug(module="mac.dsp48e2_pair", old="(half, 0), (half - 1, 1)", new="(half + 1, 0), (half - 1, 1)")
_COLUMN_TWICE = SeededBug(module="mac.dsp48e2_pair", old="as_signed(b[depth + i])", new="as_signed(b[i])")


def _pair(config: ArrayConfig, *, quick: bool = False) -> Property:
    return Property(
        name=(
            f"{config.cells} multiply-accumulate {config.a.name} x {config.b.name}, depth {config.depth}, "
            f"{config.accumulator_bits} bits"
        ),
        claim="two sums, each of all products since the first, modulo its width, at the stated latency",
        harness=lambda: PairHarness(config),
        method=Induction(Mac.latency_of(config) + 3),
        bug=_BORROWED,
        quick=quick,
    )


def _split(config: ArrayConfig, bug: SeededBug) -> Property:
    return Property(
        name=f"{config.cells} products {config.a.name} x {config.b.name}, depth {config.depth}",
        claim="the sums of products of each cycle, at the stated latency",
        harness=lambda: SplitHarness(config),
        method=FromAnyState(),
        bug=bug,
    )


PROPERTIES = (
    _pair(config_of(bits=3, accumulator_bits=8, cells="dsp48e2-pair"), quick=True),
    _pair(config_of(depth=2, bits=3, accumulator_bits=8, cells="dsp48e2-pair")),
    _split(config_of(cells="dsp48e2-pair"), _BORROWED),
    _split(config_of(signs="us", cells="dsp48e2-pair"), _BORROWED),
    _split(config_of(signs="uu", cells="dsp48e2-pair"), _COLUMN_TWICE),
)
