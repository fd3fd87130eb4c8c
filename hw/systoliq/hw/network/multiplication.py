"""Multiplication: the code of a product, rescaled by an estimate and a threshold."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network.steps import Steps

from ..delay import delay
from ..hierarchy import place
from ..multiplier import WideMultiplier
from ..rom import Rom
from .centred import centred_product, centred_product_latency

__all__ = ["PRODUCT_BITS", "SteppedProduct"]

PRODUCT_BITS = 18  # of two bytes less their zero points


class SteppedProduct(wiring.Component):
    """``y = steps.apply((a - points[0]) * (b - points[1]))`` of ``latency`` cycles ago: see `Steps`. A pair a cycle.

    Bytes are codes of ``operand``, as bits. ``cells`` make the product, and ``lane_cells`` the product of the estimate.
    No reset.
    """

    def __init__(
        self, steps: Steps, operand: IntFormat, points: tuple[int, int], *, cells: str, lane_cells: str, kind: str
    ) -> None:
        self.steps = steps
        self.operand = operand
        self.points = points
        self.kind = kind
        self._cells = cells
        bits = signed_bits(min(steps.thresholds), max(steps.thresholds))
        multiplier_bits = max(steps.multiplier.bit_length(), 1)
        self._estimate = WideMultiplier(PRODUCT_BITS, multiplier_bits, cells=lane_cells, kind=f"{kind}_estimate")
        words = [threshold % (1 << bits) for threshold in steps.thresholds]
        self._thresholds = Rom(words, bits, cells=cells, kind=f"{kind}_thresholds")
        super().__init__({"a": In(8), "b": In(8), "y": Out(8)})

    @property
    def latency(self) -> int:
        """Zero points, product, estimate, its zero point and saturation, threshold, comparison."""
        return centred_product_latency(self._cells) + self._estimate.latency + 2 + self._thresholds.latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        product = self._product(m, platform)
        m.submodules.estimate = place(self._estimate, platform)
        m.d.comb += [self._estimate.a.eq(product), self._estimate.b.eq(self.steps.multiplier)]
        output = self.steps.output
        line = (self._estimate.product >> self.steps.shift) + (self.steps.zero_point - output.min)
        line = delay(m, line, 1, name="line").as_signed()
        place_of = Signal(8, name="place", reset_less=True)  # of the estimate among the results
        m.d.sync += place_of.eq(Mux(line < 0, 0, Mux(line > 254, 254, line)))
        m.submodules.thresholds = place(self._thresholds, platform)
        m.d.comb += self._thresholds.address.eq(place_of)
        waits = self._thresholds.latency
        product = delay(m, product, self._estimate.latency + 2 + waits, name="product").as_signed()
        beyond = product >= self._thresholds.word.as_signed()
        y = Signal(8, reset_less=True)
        m.d.sync += y.eq(delay(m, place_of, waits, name="estimated") + beyond + output.min)
        m.d.comb += self.y.eq(y)
        return m

    def _product(self, m: Module, platform: object) -> Value:
        """The product of both bytes less their zero points."""
        codes = (code.as_signed() if self.operand.signed else code for code in (self.a, self.b))
        operands = zip(("a", "b"), codes, self.points, strict=True)
        return centred_product(m, operands, cells=self._cells, platform=platform)
