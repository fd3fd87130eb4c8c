"""Products of two tensors in the vector unit: bytes less their zero points, a pair a cycle, rescaled as in networks."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed
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
_PLACE_CYCLES = 4
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
        """Zero points, product, estimate, place, threshold, its register, comparison, sum."""
        return 1 + 2 * Multiplier.latency_of(cells) + _PLACE_CYCLES + BlockRam.latency_of(cells) + 3

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
        constant = delay(m, self.constant, 2, name="constant")
        load, at = delay(m, self.load, 1, name="loads"), delay(m, self.at, 1, name="at_constant")
        for index, kept in enumerate((points, results, scale)):
            with m.If(delay(m, load & (at == index), 1, name=f"constants_{index}_given")):
                m.d.sync += Value.cast(kept).eq(constant)
        for factor, byte, point in ((product.a, self.a, points.a_point), (product.b, self.b, points.b_point)):
            code = byte ^ Cat(Const(0, 7), results.signed)  # counted from the least
            m.d.comb += factor.eq(delay(m, code - point, 1, name="centred").as_signed())
        m.d.comb += [estimate.a.eq(product.product), estimate.b.eq(scale.multiplier)]
        place_of = _place_of(m, estimate.product, results)
        m.d.comb += [
            thresholds.write.eq(self.load),
            thresholds.write_address.eq(self.at),
            thresholds.write_data.eq(self.threshold),
            thresholds.read.eq(~self.load),
            thresholds.read_address.eq(place_of),
        ]
        waits = thresholds.latency
        threshold = delay(m, thresholds.read_data, 1, name="threshold").as_signed()
        kept = delay(m, product.product, estimate.latency + _PLACE_CYCLES + waits + 1, name="kept").as_signed()
        below = delay(m, (kept - threshold)[-1], 1, name="below")
        estimated = delay(m, place_of ^ Cat(Const(0, 7), ~self.unsigned), waits + 2, name="estimated")
        m.d.comb += self.y.eq(delay(m, (estimated + ~below)[:8], 1, name="y_register"))
        return m


def _place_of(m: Module, estimate: Value, results: data.View) -> Value:
    """The place of an estimate among the results, `_PLACE_CYCLES` later: shift in two steps, zero point, saturation.

    A value of more than 9 bits ends at the least or the greatest place, whatever the zero point, so the adder has 9.
    """
    coarse = delay(m, estimate >> (results.shift[2:] << 2), 1, name="coarse").as_signed()
    whole = delay(m, coarse >> results.shift[:2], 1, name="whole").as_signed()
    negative, high = whole[-1], whole[8:-1]
    line = delay(m, Cat(whole[:8], negative).as_signed() + results.y_point, 1, name="line")
    least = delay(m, negative & ~high.all(), 1, name="least")
    most = delay(m, ~negative & high.any(), 1, name="most") | line[8]
    below = least | line[9]
    lowest = line[0] & ~most & ~line[1:8].all()  # of 255 it becomes 254, too
    return delay(m, Cat(lowest, line[1:8] | most.replicate(7)) & ~below.replicate(8), 1, name="place")
