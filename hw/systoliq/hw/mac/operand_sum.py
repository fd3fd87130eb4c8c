"""The sum of one operand alone: a multiply-accumulate whose other operand is always one, without a multiplier."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..adder_tree import adder_tree, adder_tree_latency
from ..cells import ecp5, gowin
from ..config import ArrayConfig
from ..delay import delay
from .interface import Mac, operand_layout

__all__ = ["OperandSum"]

_CLEARING = {"ecp5": ecp5.clearing_adder, "ecp5-alu": ecp5.clearing_adder, "gowin": gowin.clearing_adder}


class OperandSum(wiring.Component):
    """`Mac` with ones for the operand that is not ``operand`` ("a" or "b"): same ports, latency, parts and ``clear``.

    Sums are kept in `BITS` bits, enough for 65535 operands of 8 bits, and extended to the width of the others.
    """

    BITS = 24

    def __init__(self, config: ArrayConfig, operand: str) -> None:
        self.config = config
        self.operand = operand
        self.kind = f"sum_of_{operand}"
        super().__init__(
            {
                "a": In(operand_layout(config.a, config.depth)),
                "b": In(operand_layout(config.b, config.depth)),
                "clear": In(1),
                "sum": Out(signed(config.accumulator_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        latency, skew = Mac.latency_of(config), Mac.skew_of(config)
        terms = list(getattr(self, self.operand))
        if skew:  # skewed operands come one after the other, and are added as they arrive
            total = delay(m, terms[0], 1, name="chain_0").as_signed()
            for i, term in enumerate(terms[1:], 1):
                bits = len(total) + 1
                total = delay(m, (total + term)[:bits].as_signed(), 1, name=f"chain_{i}").as_signed()
            total = delay(m, total, latency - 1 - config.depth, name="total").as_signed()
        else:
            waits = latency - 1 - adder_tree_latency(config.depth)
            behind = (
                waits if config.cells == "ice40" else 0
            )  # the total has fewer bits than the terms, which have the width of the cells' inputs
            terms = [delay(m, term, waits - behind, name=f"operand_{i}").as_signed() for i, term in enumerate(terms)]
            total = delay(m, adder_tree(m, terms, len(terms[0])), behind, name="total").as_signed()
        # The first operands' total is there a cycle before the sum that begins with it.
        clear = delay(m, self.clear, latency - 1 - Mac.clear_delay_of(config), name="clear")
        held = Signal(signed(self.BITS), reset_less=True)
        if add := _CLEARING.get(config.cells):
            after: Value = add(m, total, held, clear, name="sum", carry_in=None, carry_out=False)
        else:
            after = Mux(clear, 0, held) + total
        m.d.sync += held.eq(after)
        whole = Signal.like(self.sum)
        m.d.comb += whole.eq(held)
        for part in Mac.parts_of(config):
            m.d.comb += part.of(self.sum).eq(delay(m, part.of(whole), part.late, name="held"))
        return m
