"""Multiplication: the code of a product, rescaled by an estimate and a threshold."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network.steps import Steps

from ..delay import delay
from ..hierarchy import place
from ..lut_product import lut_product, lut_product_latency
from ..multiplier import Multiplier, WideMultiplier
from ..rom import Rom

__all__ = ["PRODUCT_BITS", "SteppedProduct"]

PRODUCT_BITS = 18  # of two bytes less their zero points
_CENTRED = PRODUCT_BITS // 2  # bits of a byte less its zero point


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
        self._estimate = WideMultiplier(PRODUCT_BITS, max(steps.multiplier.bit_length(), 1), cells=lane_cells)
        self._estimate.kind = f"{kind}_estimate"
        words = [threshold % (1 << bits) for threshold in steps.thresholds]
        self._thresholds = Rom(words, bits, cells=cells, kind=f"{kind}_thresholds")
        super().__init__({"a": In(8), "b": In(8), "y": Out(8)})

    @property
    def _in_tables(self) -> bool:
        return self._cells == "ecp5-lut"

    @property
    def _product_latency(self) -> int:
        return lut_product_latency(_CENTRED) if self._in_tables else Multiplier.latency_of(self._cells)

    @property
    def latency(self) -> int:
        """Zero points, product, estimate, its zero point and saturation, threshold, comparison."""
        return 1 + self._product_latency + self._estimate.latency + 2 + self._thresholds.latency + 1

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
        centred = []
        for name, point in zip(("a", "b"), self.points, strict=True):
            code = getattr(self, name).as_signed() if self.operand.signed else getattr(self, name)
            difference = Signal(signed(_CENTRED), name=f"{name}_centred", reset_less=True)
            m.d.sync += difference.eq(code - point)
            centred.append(difference)
        if self._in_tables:
            return lut_product(m, *centred, name="tables").as_signed()
        multiplier = Multiplier(_CENTRED, _CENTRED, cells=self._cells)
        m.submodules.multiplier = place(multiplier, platform)
        m.d.comb += [multiplier.a.eq(centred[0]), multiplier.b.eq(centred[1])]
        return multiplier.product
