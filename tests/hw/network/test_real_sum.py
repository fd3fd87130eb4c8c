"""Real sum: each addition rounds as float32 does, and a lane gives golden's averages."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Tensor, Window, WindowedAverage
from systoliq.golden.network.real_sums import RealSums
from systoliq.hw.network.real_sum import ADDITION, RealSum, rounded_to_24_bits

from ..bench import simulate

BITS = 36


class Rounding(wiring.Component):
    def __init__(self, bits):
        super().__init__({"total": In(signed(bits)), "y": Out(signed(bits))})

    def elaborate(self, platform):
        m = Module()
        total = Signal.like(self.total)
        m.d.sync += total.eq(self.total)
        m.d.comb += self.y.eq(rounded_to_24_bits(m, total))
        return m


@pytest.mark.parametrize("bits", [24, 25, 26, BITS])
def test_rounding(bits):
    rng = np.random.default_rng(2)
    span = 1 << bits - 2  # what an addition may give; a rounded sum has one bit more
    totals = rng.integers(-span, span, 1500) >> rng.integers(0, bits - 1, 1500)
    ties = [
        sign * ((int(rng.integers(1 << 23, 1 << 24)) << dropped) + (1 << dropped >> 1) + beside)
        for dropped in range(1, max(bits - 25, 1))
        for beside in (-1, 0, 1)
        for sign in (-1, 1)
    ]
    powers = [sign * (1 << at) + beside for at in range(bits - 2) for beside in (-1, 0, 1) for sign in (-1, 1)]
    given, shown = [*totals.tolist(), *ties, *powers], []
    block = Rounding(bits)

    async def bench(ctx):
        for total in given:
            ctx.set(block.total, total)
            await ctx.tick()
            shown.append(ctx.get(block.y))

    simulate(block, bench)
    assert shown == np.array(given).astype(np.float32).astype(np.int64).tolist()


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("kernel", [(1, 2), (2, 2), (4, 4)], ids=str)
def test_lane(kernel, form):
    rng = np.random.default_rng(3)
    x = Tensor(name="x", shape=(1, 1, *kernel), format=form, scale=np.float32(0.0123), zero_point=form.min + 120)
    node = WindowedAverage(name="a", inputs=(x,), output=x.replace(shape=(1, 1, 1, 1)), window=Window(kernel=kernel))
    sums = RealSums.of(node)
    lane = RealSum(sums, form, cells="portable", lane_cells="portable", kind="lane")
    places = rng.integers(0, 256, (60, node.pixels))
    shown = []

    async def bench(ctx):
        for window in places.tolist():
            for index, place in enumerate(window):
                ctx.set(lane.x, (place + form.min) & 255)
                ctx.set(lane.comes, 1)
                ctx.set(lane.first, index == 0)
                for _ in range(ADDITION):
                    await ctx.tick()
                    shown.append(ctx.get(lane.y))
                    ctx.set(lane.comes, 0)
        for _ in range(lane.latency):
            await ctx.tick()
            shown.append(ctx.get(lane.y))

    simulate(lane, bench)
    period = ADDITION * node.pixels
    ends = [period * (index + 1) - ADDITION + lane.latency for index in range(len(places))]
    assert [shown[end - 1] for end in ends] == [int(y) & 255 for y in sums.apply(places)]
