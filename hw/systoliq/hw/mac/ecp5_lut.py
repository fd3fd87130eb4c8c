"""ECP5 without multipliers: products in lookup tables and carry chains, two rows of a product in each chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Value

from ..lut_product import lut_product, lut_product_latency
from .ecp5 import Ecp5Form
from .form import as_signed

__all__ = ["Ecp5LutForm"]


class Ecp5LutForm(Ecp5Form):
    """The form of ``ecp5``, but for where products come from."""

    @property
    def products_latency(self) -> int:
        """Cycles from operands to their products."""
        return lut_product_latency(self.config.b.bits + (not self.config.b.signed))

    def products(self, m: Module, a: Any, b: Any, platform: object) -> Sequence[Value]:
        """The ``depth`` products, signed and of ``product_bits`` bits."""
        bits = self.config.product_bits
        terms = []
        for i in range(self.config.depth):
            product = lut_product(m, as_signed(a[i]), as_signed(b[i]), name=f"product_{i}")
            terms.append(product[:bits].as_signed())
        return terms


FORMS = {"ecp5-lut": Ecp5LutForm}
