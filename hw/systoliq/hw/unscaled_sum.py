"""The end of a lane whose results are sums: a register, and the sign up to 32 bits."""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.unscaled import Unscaled

from .delay import delay

__all__ = ["UnscaledSum", "UnscaledSumConfig"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnscaledSumConfig:
    """Sums, bias included, have ``sum_bits`` bits, at most 32."""

    sum_bits: int


class UnscaledSum(wiring.Component):
    """``y`` is ``acc`` of the cycle before, as int32: what `systoliq.golden.unscaled.Unscaled.apply` gives."""

    kind = "unscaled_sum"
    constants = ()
    latency = 1

    def __init__(self, config: UnscaledSumConfig) -> None:
        self.config = config
        super().__init__({"acc": In(signed(config.sum_bits)), "y": Out(signed(Unscaled.output.bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.y.eq(delay(m, self.acc, 1, name="sum").as_signed())
        return m
