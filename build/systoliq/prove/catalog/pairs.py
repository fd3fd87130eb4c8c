"""Proofs of the multiply-accumulate of two columns, which share one operand and one cell, in two steps.

One product of packed operands is two products side by side: a property of multiplication, proven as such. The second
step proves that the form makes two sums of that product, for any multiplication with this property.
"""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import Assert, Assume, Cover, Module, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.cells.dsp48e2 import A_BITS, B_BITS
from systoliq.hw.config import ArrayConfig
from systoliq.hw.mac import operand_layout
from systoliq.hw.mac.dsp48e2_pair import Dsp48E2PairForm

from ..property import FromAnyState, Property, SeededBug
from .array import MacHarness, config_of, mac
from .cells import macs

__all__ = ["PROPERTIES", "PackedHarness"]


def _side_by_side(m: Module, config: ArrayConfig, a: Value, first: Value, second: Value) -> Value:
    """True if the cell's product of ``a`` and both packed operands is the sum of their two products at their places."""
    lane = Dsp48E2PairForm(config)._field
    packed, factor = Signal(signed(A_BITS)), Signal(signed(B_BITS))
    product = Signal(signed(A_BITS + B_BITS))
    m.d.comb += [packed.eq(first + (second << lane)), factor.eq(a), product.eq(packed * factor)]
    return product == ((a * second) << lane) + a * first


class PackedHarness(wiring.Component):
    """The product of packed operands: all that is ``known`` of it for operands a, first and second, ``latency`` cycles
    later.
    """

    def __init__(self, config: ArrayConfig, *known: Callable[..., Value], latency: int = 0) -> None:
        self.config = config
        self.latency = latency
        self._known = known
        b = data.ArrayLayout(operand_layout(config.b, 1), 2)
        super().__init__({"a": In(operand_layout(config.a, 1)), "b": In(b)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        a, first, second = self.a[0], self.b[0][0], self.b[1][0]
        m.d.comb += [Assert(known(m, self.config, a, first, second)) for known in self._known]
        m.d.comb += Cover((a > 1) & (second > first))
        return m


class PairHarness(MacHarness):
    """`MacHarness` with products that have only the property that `PackedHarness` proves."""

    free_products = True

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        for i in range(self.config.depth):
            m.d.comb += Assume(_side_by_side(m, self.config, self.a[i], self.b[0][i], self.b[1][i]))
        return m


def _packed(signs: str) -> Property:
    config = config_of(signs=signs, cells=_CELLS)
    return Property(
        name=f"{config.cells} packed product {config.a.name} x {config.b.name}",
        claim="the product of two numbers packed into one is their two products side by side, added",
        harness=lambda: PackedHarness(config, _side_by_side),
        method=FromAnyState(),
        bug=_LANE_TOO_HIGH,
    )


_CELLS = "dsp48e2-pair"
_LANE_TOO_HIGH = SeededBug(module="mac.dsp48e2_pair", old="half = 1 << (A_BITS - 1)", new="half = 1 << A_BITS")
_BORROWED = SeededBug(module="mac.dsp48e2_pair", old="(half, 0), (half - 1, 1)", new="(half + 1, 0), (half - 1, 1)")
_NEVER_CLEARED = SeededBug(module="mac.dsp48e2_pair", old="Mux(clear, 0, held) + total", new="held + total")

PROPERTIES = (
    *(_packed(signs) for signs in ("ss", "su", "us", "uu")),
    *macs(_CELLS, _NEVER_CLEARED, harness=PairHarness),
    mac(config_of(bits=3, accumulator_bits=8, cells=_CELLS), _BORROWED, quick=True),  # multiplying out, for once
)
