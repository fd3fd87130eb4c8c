"""The FIFO: everything once and in order, full rate, as much as it holds, and empty after a reset."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.dma.late_fifo import LateFifo

from ..bench import receive, send, simulate, wait


@pytest.mark.parametrize("depth", [2, 4, 64])
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.6, 0.6)])
def test_everything_passes_once_and_in_order(depth, comes, goes):
    block, reset = LateFifo(unsigned(8), depth=depth, cells="portable", kind="fifo"), Signal()
    rng = random.Random(depth)
    before, given = [1] * min(depth, 5), [rng.getrandbits(8) for _ in range(200)]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, before, random.Random(1))
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        assert not ctx.get(block.o.valid)
        await send(ctx, block.i, given, random.Random(2), comes)

    async def receiver(ctx):
        await wait(ctx, len(before) + 1)
        taken.extend(await receive(ctx, block.o, len(given), random.Random(3), goes))

    simulate(block, sender, receiver, reset=reset)
    assert taken == given


def test_it_holds_its_depth_and_a_payload_a_cycle():
    block = LateFifo(unsigned(8), depth=16, cells="portable", kind="fifo")

    async def testbench(ctx):
        ctx.set(block.i.valid, 1)
        count, offered = 0, []
        for _ in range(40):
            *_, ready, valid = await ctx.tick().sample(block.i.ready, block.o.valid)
            count += ready
            offered.append(valid)
        assert offered.index(1) == block.latency
        assert count == block.holds
        ctx.set(block.o.ready, 1)
        await wait(ctx, 3)
        for _ in range(30):
            *_, ready, valid = await ctx.tick().sample(block.i.ready, block.o.valid)
            assert (ready, valid) == (1, 1)

    simulate(block, testbench)


def test_a_depth_is_a_power_of_two():
    with pytest.raises(ValueError, match="depth must be a power of two, and 2 at the least, not 3"):
        LateFifo(unsigned(1), depth=3, cells="portable", kind="fifo")
