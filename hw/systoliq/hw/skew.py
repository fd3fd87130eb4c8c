"""Skew: holds lane i of a word back by i cycles, as a systolic array wants its operands."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .delay import delay

__all__ = ["Skew"]


class Skew(wiring.Component):
    """``out[i]`` in cycle t is ``word[i]`` of cycle ``t - i``: a triangle of registers, each stage a lane narrower."""

    def __init__(self, layout: data.ArrayLayout, *, kind: str) -> None:
        self.kind = kind
        super().__init__({"word": In(layout), "out": Out(layout)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        waiting = Value.cast(self.word)
        bits = len(waiting) // self.word.shape().length
        lanes = [waiting[:bits]]
        for lane in range(1, self.word.shape().length):
            waiting = delay(m, waiting[bits:], 1, name=f"stage_{lane}")
            lanes.append(waiting[:bits])
        m.d.comb += Value.cast(self.out).eq(Cat(lanes))
        return m
