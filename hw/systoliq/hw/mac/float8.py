"""float8, with integers too: exact products, added in fixed point, and flags for NaN and infinities."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from systoliq.golden.operand import Format

from ..adder_tree import adder_tree_latency
from ..config import ArrayConfig
from ..delay import delay
from ..hierarchy import place
from .ecp5 import Ecp5Form
from .fabric import FabricForm
from .float8_product import Float8Product
from .form import Form
from .parts import cuts, skewed, skewed_sum

__all__ = ["float8_form"]


def float8_form(config: ArrayConfig, formats: tuple[Format, Format]) -> Form:
    """The form for operands of ``formats``: lookup tables multiply by 4 bits with any cells, and ECP5's add well."""
    return (_Ecp5Float8Form if config.cells in ("ecp5", "ecp5-alu") else _Float8Form)(config, formats)


class _Float8Form(FabricForm):
    """Wide sums, in parts from the products on; flags stay set until ``clear``."""

    lag = 1

    def __init__(self, config: ArrayConfig, formats: tuple[Format, Format]) -> None:
        super().__init__(config)
        self._formats = formats

    @property
    def products_latency(self) -> int:
        return Float8Product.latency_of(*self._formats)

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        config = self.config
        at = cuts(config.accumulator_bits, self.whole_bits)
        terms, flags = [], []
        for i in range(config.depth):
            product = Float8Product(*self._formats)
            m.submodules[f"product_{i}"] = place(product, platform)
            m.d.comb += [product.a.eq(a[i]), product.b.eq(b[i])]
            terms.append(skewed(m, product.product, at, name=f"product_{i}"))
            flags.append(product.flags)
        total = skewed_sum(m, terms, config.product_bits, at, name="sum")
        return Cat(self._accumulate_parts(m, total, clear), self._flags(m, flags, clear))

    def _flags(self, m: Module, flags: list[Any], clear: Value) -> Value:
        """The flags of the sum, in its time."""
        raised = flags[0]
        for other in flags[1:]:
            raised |= other
        raised = delay(m, raised, adder_tree_latency(len(flags)), name="raised")
        held = Signal(len(raised), name="flags_held", reset_less=True)
        after = Signal(len(raised), name="flags_after")
        m.d.comb += after.eq(held | raised)
        m.d.sync += held.eq(Mux(clear, 0, after))
        return delay(m, after, self.parts[-1].late + self.accumulator_latency, name="flags")


class _Ecp5Float8Form(_Float8Form, Ecp5Form):
    """With the accumulator of `Ecp5Form`."""
