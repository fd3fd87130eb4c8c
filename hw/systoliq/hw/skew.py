"""Skew: holds lane i of a word back by i cycles, as a systolic array wants its operands."""

from __future__ import annotations

from amaranth.hdl import Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .delay import delay

__all__ = ["Skew"]


class Skew(wiring.Component):
    """``out[i]`` in cycle t is ``word[i]`` of cycle ``t - i``: a triangle of registers."""

    def __init__(self, layout: data.ArrayLayout, *, kind: str) -> None:
        self.kind = kind
        super().__init__({"word": In(layout), "out": Out(layout)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for i in range(self.word.shape().length):
            m.d.comb += Value.cast(self.out[i]).eq(delay(m, Value.cast(self.word[i]), i, name=f"lane_{i}"))
        return m
