"""Multiply-accumulate: ``depth`` products a cycle, summed into one accumulator.

This is the one interface behind which vendor cells stand; this portable form is the default.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from systoliq.golden.formats import IntFormat

from .config import ArrayConfig

__all__ = ["Mac", "operand_layout"]


def operand_layout(operand: IntFormat, count: int) -> data.ArrayLayout:
    """``count`` numbers of one `IntFormat` side by side, the first in the lowest bits."""
    return data.ArrayLayout(signed(operand.bits) if operand.signed else unsigned(operand.bits), count)


class Mac(wiring.Component):
    """``sum = (0 if clear else sum) + a[0]*b[0] + ... + a[depth-1]*b[depth-1]``, modulo ``2**accumulator_bits``.

    Operands are sampled every cycle. ``sum`` includes those seen in cycle t from cycle ``t + latency`` on, and
    ``clear`` acts on the addition of the operands seen ``latency - 1`` cycles before it. There is no reset: the first
    ``clear`` makes the sum known.
    """

    kind = "mac"

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        super().__init__(
            {
                "a": In(operand_layout(config.a, config.depth)),
                "b": In(operand_layout(config.b, config.depth)),
                "clear": In(1),
                "sum": Out(signed(config.accumulator_bits)),
            }
        )

    @staticmethod
    def latency_of(config: ArrayConfig) -> int:
        """Operand register, product register, one register per adder level, accumulator."""
        return 3 + (config.depth - 1).bit_length()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        terms = []
        for i in range(config.depth):
            a = Signal.like(self.a[i], name=f"a_{i}", reset_less=True)
            b = Signal.like(self.b[i], name=f"b_{i}", reset_less=True)
            product = Signal(signed(config.product_bits), name=f"product_{i}", reset_less=True)
            m.d.sync += [a.eq(self.a[i]), b.eq(self.b[i]), product.eq(a * b)]
            terms.append(product)
        level = 0
        while len(terms) > 1:
            level += 1
            bits = min(config.product_bits + level, config.accumulator_bits)
            pairs = []
            for i in range(0, len(terms), 2):
                total = Signal(signed(bits), name=f"sum_{level}_{i // 2}", reset_less=True)
                m.d.sync += total.eq(sum(terms[i + 1 : i + 2], terms[i]))
                pairs.append(total)
            terms = pairs
        accumulator = Signal(signed(config.accumulator_bits), reset_less=True)
        feedback = Signal(signed(config.accumulator_bits))
        with m.If(~self.clear):
            m.d.comb += feedback.eq(accumulator)
        m.d.sync += accumulator.eq(feedback + terms[0])
        m.d.comb += self.sum.eq(accumulator)
        return m
