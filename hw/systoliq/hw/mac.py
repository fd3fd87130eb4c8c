"""Multiply-accumulate: ``depth`` products a cycle, summed into one accumulator.

This is the one interface behind which vendor cells stand; ``ArrayConfig.cells`` chooses them.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from .adder_tree import adder_tree, adder_tree_latency
from .cells.ecp5 import adder, clearing_adder
from .config import ArrayConfig
from .delay import delay
from .hierarchy import place
from .multiplier import Multiplier

__all__ = ["Mac", "operand_layout"]

WHOLE_BITS = 24  # a carry chain as long as this still meets 200 MHz on ECP5 (speed 6); longer accumulators are split


def operand_layout(operand: IntFormat, count: int) -> data.ArrayLayout:
    """``count`` numbers of one `IntFormat` side by side, the first in the lowest bits."""
    return data.ArrayLayout(signed(operand.bits) if operand.signed else unsigned(operand.bits), count)


class Mac(wiring.Component):
    """``sum`` adds up ``a[0]*b[0] + ... + a[depth-1]*b[depth-1]``, modulo ``2**accumulator_bits``.

    Operands are sampled every cycle. In cycle ``t + latency`` ``sum`` includes those seen in cycle t and none later.
    ``clear`` in cycle ``t + clear_delay`` begins a new sum with the operands seen in cycle t: in cycle
    ``t + latency - 1`` ``sum`` still shows the one before. There is no reset: the first ``clear`` makes it known.

    No multiplexer stands before the accumulator's adder: it is cleared *after* an addition, by its registers'
    synchronous reset, or on ECP5 inside the carry chain. One of more than 24 bits is split: the upper half adds the
    lower one's carry a cycle later.
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
    def _total_delay(config: ArrayConfig) -> int:
        """Cycles from operands to their total before the accumulator: multiplier, a register per adder level."""
        return Multiplier.latency_of(config.cells) + adder_tree_latency(config.depth)

    @staticmethod
    def latency_of(config: ArrayConfig) -> int:
        """The total of the products, the carry's way into the upper half of a split accumulator, ECP5's register."""
        return Mac._total_delay(config) + (config.accumulator_bits > WHOLE_BITS) + (config.cells == "ecp5")

    @staticmethod
    def clear_delay_of(config: ArrayConfig) -> int:
        """Cycles from the first operands of a sum to its ``clear``: the one before their addition."""
        return Mac._total_delay(config) - 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        terms: list[Value] = []
        a_bits, b_bits = (operand.bits + (not operand.signed) for operand in (config.a, config.b))
        for i in range(config.depth):
            multiplier = Multiplier(a_bits, b_bits, cells=config.cells)
            m.submodules[f"multiplier_{i}"] = place(multiplier, platform)
            m.d.comb += [multiplier.a.eq(self.a[i]), multiplier.b.eq(self.b[i])]
            terms.append(multiplier.product[: config.product_bits].as_signed())
        add = (lambda a, b, name: adder(m, a, b, name=name)) if config.cells == "ecp5" else None
        total = adder_tree(m, terms, config.product_bits, most_bits=config.accumulator_bits, add=add)
        self._accumulate(m, total)
        return m

    def _accumulate(self, m: Module, total: Value) -> None:
        bits = self.config.accumulator_bits
        accumulator = _cleared_inside if self.config.cells == "ecp5" else _cleared_after
        if bits <= WHOLE_BITS:
            m.d.comb += self.sum.eq(accumulator(m, total, self.clear, bits, name="sum", carry_out=False)[0])
            return
        low_bits = bits // 2 & ~1  # even: ECP5's carry chains come in pairs of bits, and both their ends take one
        missing = max(low_bits - len(total), 0)  # of a total of few bits, the lower half takes its sign along
        lower = Cat(total, total[-1].replicate(missing))[:low_bits]
        low, carry = accumulator(m, lower, self.clear, low_bits, name="low")
        upper = delay(m, Cat(total[low_bits:], total[-1]), 1, name="upper").as_signed()
        clear = delay(m, self.clear, 1, name="clear")
        high, _ = accumulator(m, upper, clear, bits - low_bits, name="high", carry_in=carry, carry_out=False)
        m.d.comb += self.sum.eq(Cat(delay(m, low, 1, name="low_sum"), high).as_signed())


def _cleared_after(
    m: Module, term: Value, clear: Value, bits: int, *, name: str, carry_in: Value | None = None, carry_out: bool = True
) -> tuple[Value, Value]:
    """(The sum that is about to be stored, the carry out of the one before); cleared by the registers' reset."""
    held = Signal(unsigned(bits), name=f"{name}_held", reset_less=True)
    after = Signal(unsigned(bits + carry_out), name=f"{name}_after")
    m.d.comb += after.eq(held + term + (0 if carry_in is None else carry_in))
    m.d.sync += held.eq(Mux(clear, 0, after))
    return after[:bits], delay(m, after[bits:], 1, name=f"{name}_carry")


def _cleared_inside(
    m: Module, term: Value, clear: Value, bits: int, *, name: str, carry_in: Value | None = None, carry_out: bool = True
) -> tuple[Value, Value]:
    """(The sum that was stored, the carry out of it); cleared in the adder's own lookup tables, a cycle later."""
    held = Signal(unsigned(bits), name=f"{name}_held", reset_less=True)
    clear = delay(m, clear, 1, name=f"{name}_clear")
    after = clearing_adder(m, term, held, clear, name=name, carry_in=carry_in, carry_out=carry_out)
    m.d.sync += held.eq(after[:bits])
    return held, delay(m, after[bits:], 1, name=f"{name}_carry")
