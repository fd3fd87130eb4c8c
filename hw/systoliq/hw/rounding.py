"""The rounding decision of the requantizer: the part that is exchanged between its exact and its plain forms.

A fixed-point value lies ``fraction / 2**bits`` above its integer part ``floor``; the block says whether the result is
``floor + 1`` (``up``) or ``floor``. It is combinational, or has one register in its middle.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.requantization import Rounding

from .delay import delay

__all__ = ["FRACTION_BITS", "RoundingStage"]

FRACTION_BITS = 26
"""Fraction bits that the stage sees one by one; all lower ones arrive or-ed together as ``sticky``.

A near tie is decided within 2**(i - 24) of one half, i >= -1: that is 25 bits, and one more for "exactly so far".
"""


class RoundingStage(wiring.Component):
    """Decides ``up`` for one value.

    ``floor`` (signed) is the integer part, clamped where it is far outside the output's range. ``fraction`` holds the
    first `FRACTION_BITS` bits after the binary point and ``sticky`` whether any later bit is set. ``registered`` puts a
    register into the middle of the decision: ``up`` then comes a cycle after its number.

    * ``NEAREST``: half to even on the exact value.
    * ``NEAR_TIE``: as float32 multiplication followed by half-to-even rounds. With i the index of the top bit of the
      integer part of the magnitude (-1 where that is 0), a fraction within 2**(i - 24) of one half is a tie, because
      the float32 product, which keeps 24 bits, becomes that tie; see docs/exactness.md.
    * ``FLOOR``: never up.
    """

    def __init__(self, rounding: Rounding, floor_bits: int, *, registered: bool = False) -> None:
        self.rounding = rounding
        self.registered = registered
        self.floor_bits = floor_bits
        self.kind = f"round_{rounding.value.replace('-', '_')}"
        super().__init__(
            {
                "floor": In(signed(floor_bits)),
                "fraction": In(unsigned(FRACTION_BITS)),
                "sticky": In(1),
                "up": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.rounding is Rounding.FLOOR:
            return m
        half = self.fraction[-1]

        def decide(ties: Value) -> None:
            odd, above, tie = (
                delay(m, value, int(self.registered), name=name)
                for name, value in (("odd", self.floor[0]), ("above", half), ("ties", ties))
            )
            m.d.comb += self.up.eq(Mux(tie.any(), odd, above))

        if self.rounding is Rounding.NEAREST:
            decide(half & (self.fraction[:-1] == 0) & ~self.sticky)
            return m

        # fraction[-k] has weight 2**-k. One half is 0.1000...; just below it stands 0.0111...
        # Distance from one half < 2**-w: bits 2..w all differ from bit 1 (above: zeros, below: ones).
        # Distance exactly 2**-w: from below that pattern already holds; from above bit w is the last one set.
        magnitude = Signal(unsigned(self.floor_bits - 1))
        m.d.comb += magnitude.eq(Mux(self.floor[-1], ~self.floor, self.floor))
        differs = Signal(unsigned(FRACTION_BITS))  # bit k - 1: fraction bit of weight 2**-k is unlike the top one
        zero_after = Signal(unsigned(FRACTION_BITS + 1))  # bit k: nothing is set below weight 2**-k
        m.d.comb += zero_after[FRACTION_BITS].eq(~self.sticky)
        for k in range(1, FRACTION_BITS + 1):
            bit = self.fraction[FRACTION_BITS - k]
            m.d.comb += [differs[k - 1].eq(bit ^ half), zero_after[k - 1].eq(zero_after[k] & ~bit)]
        ties = Signal(unsigned(self.floor_bits))  # a tie, and its integer part has this length
        for top in range(-1, self.floor_bits - 1):  # top = i, the index of the leading one of the integer part
            window = 24 - top
            leading = magnitude == 0 if top < 0 else magnitude[top:] == 1
            with m.If(leading):
                near = differs[1 : window - 1].all() & (differs[window - 1] | (half & zero_after[window]))
                m.d.comb += ties[top + 1].eq(near)
        decide(ties)
        return m
