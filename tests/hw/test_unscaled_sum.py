"""The end of a lane of sums: each sum comes a cycle later, with its sign up to 32 bits."""

from __future__ import annotations

import pytest
from amaranth.sim import Simulator

from systoliq.hw.unscaled_sum import UnscaledSum, UnscaledSumConfig


@pytest.mark.parametrize("bits", [2, 19, 32])
def test_sums_keep_their_value(bits):
    dut = UnscaledSum(UnscaledSumConfig(sum_bits=bits))
    ends = [-(1 << (bits - 1)), -1, 0, 1, (1 << (bits - 1)) - 1]
    seen = []

    async def bench(ctx):
        for value in ends:
            ctx.set(dut.acc, value)
            await ctx.tick().repeat(dut.latency)
            seen.append(ctx.get(dut.y))

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == ends
