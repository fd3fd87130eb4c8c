"""Products of two tensors in the vector unit: bytes less their zero points, a pair a cycle, rescaled as in networks."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from ..multiplier import Multiplier
from ..network.multiplication import PRODUCT_BITS

__all__ = ["CONSTANTS", "MULTIPLIER_BITS", "PRODUCT_SHIFT_BITS", "VectorProduct"]

MULTIPLIER_BITS = 17
PRODUCT_SHIFT_BITS = 5
CONSTANTS = (
    data.StructLayout({"a_point": 8, "b_point": 8}),
    data.StructLayout({"y_point": 8, "signed": 1, "shift": PRODUCT_SHIFT_BITS}),
    data.StructLayout({"multiplier": MULTIPLIER_BITS}),
)
"""The first entries of the table of B. Zero points count from the least value of their format; ``signed``: A and B are
int8. The entries of the table of A are the thresholds of `Steps`, by the place of a result."""


class VectorProduct(wiring.Component):
    """``y`` = `Steps.apply` of (a - a_point) * (b - b_point), ``latency`` cycles later; an element a cycle. No reset.

    ``load`` writes ``threshold`` at ``at``, and keeps ``constant`` if that is the place of one of `CONSTANTS`. ``a``,
    ``b`` and ``y`` are bytes, ``y`` of uint8 where it is ``unsigned``.
    """

    kind = "vector_product"

    def __init__(self, *, cells: str) -> None:
        self.cells = cells
        self._product = Multiplier(9, 9, cells=cells)
        self._estimate = Multiplier(PRODUCT_BITS, MULTIPLIER_BITS + 1, cells=cells)
        self._thresholds = BlockRam(signed(PRODUCT_BITS), depth=256, cells=cells)
        super().__init__(
            {
                "a": In(8),
                "b": In(8),
                "unsigned": In(1),
                "load": In(1),
                "at": In(8),
                "threshold": In(signed(PRODUCT_BITS)),
                "constant": In(PRODUCT_BITS),
                "y": Out(8),
            }
        )

    @staticmethod
    def latency_of(cells: str) -> int:
        """Zero points, product, estimate, shift in two steps, zero point, saturation, threshold, comparison, sum."""
        return 1 + 2 * Multiplier.latency_of(cells) + 4 + BlockRam.latency_of(cells) + 2

    @property
    def latency(self) -> int:
        """Cycles from two bytes to their result."""
        return self.latency_of(self.cells)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        product, estimate, thresholds = self._product, self._estimate, self._thresholds
        for name, block in (("product", product), ("estimate", estimate), ("thresholds", thresholds)):
            m.submodules[name] = place(block, platform)
        points, results, scale = (
            Signal(layout, name=f"constants_{index}", reset_less=True) for index, layout in enumerate(CONSTANTS)
        )
        for index, kept in enumerate((points, results, scale)):
            with m.If(self.load & (self.at == index)):
                m.d.sync += Value.cast(kept).eq(self.constant)
        for factor, byte, point in ((product.a, self.a, points.a_point), (product.b, self.b, points.b_point)):
            code = byte ^ Cat(Const(0, 7), results.signed)  # counted from the least
            m.d.comb += factor.eq(delay(m, code - point, 1, name="centred").as_signed())
        m.d.comb += [estimate.a.eq(product.product), estimate.b.eq(scale.multiplier)]
        coarse = delay(m, estimate.product >> (results.shift[2:] << 2), 1, name="coarse").as_signed()
        whole = delay(m, coarse >> results.shift[:2], 1, name="whole").as_signed()
        line = delay(m, whole + results.y_point, 1, name="line").as_signed()
        place_of = delay(m, Mux(line < 0, 0, Mux(line > 254, 254, line))[:8], 1, name="place")
        m.d.comb += [
            thresholds.write.eq(self.load),
            thresholds.write_address.eq(self.at),
            thresholds.write_data.eq(self.threshold),
            thresholds.read.eq(~self.load),
            thresholds.read_address.eq(place_of),
        ]
        waits = thresholds.latency
        kept = delay(m, product.product, estimate.latency + 4 + waits, name="kept").as_signed()
        beyond = delay(m, kept >= thresholds.read_data, 1, name="beyond")
        y = delay(m, place_of, waits + 1, name="estimated") + beyond
        m.d.comb += self.y.eq(delay(m, y[:8] ^ Cat(Const(0, 7), ~self.unsigned), 1, name="y_register"))
        return m
