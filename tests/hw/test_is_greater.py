"""`is_greater` on all pairs of small numbers."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Shape, Signal
from amaranth.sim import Simulator

from systoliq.hw.is_greater import is_greater


@pytest.mark.parametrize("shape", [Shape(1, signed=True), Shape(4, signed=True), Shape(4)], ids=repr)
def test_all_pairs(shape):
    a, b, greater = Signal(shape), Signal(shape), Signal()
    m = Module()
    m.d.comb += greater.eq(is_greater(a, b))
    numbers = range(-(1 << shape.width - 1), 1 << shape.width - 1) if shape.signed else range(1 << shape.width)

    async def compare(ctx):
        for x in numbers:
            for y in numbers:
                ctx.set(a, x)
                ctx.set(b, y)
                await ctx.delay(1e-9)
                assert ctx.get(greater) == (x > y), (x, y)

    simulator = Simulator(m)
    simulator.add_testbench(compare)
    simulator.run()
