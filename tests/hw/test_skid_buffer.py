"""The skid buffer: everything once and in order, full rate, and no way from one side to the other in a cycle."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.skid_buffer import SkidBuffer

from .bench import receive, send, simulate, wait


@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.6, 0.6)])
@pytest.mark.parametrize("reset_at", [None, 2, 3])
def test_everything_passes_once_and_in_order(comes, goes, reset_at):
    block, reset = SkidBuffer(unsigned(8)), Signal()
    rng = random.Random(comes)
    given = [rng.getrandbits(8) for _ in range(150)]
    taken = []

    async def sender(ctx):
        if reset_at is not None:
            ctx.set(block.i.payload, 0xEE)
            ctx.set(block.i.valid, 1)
            await wait(ctx, reset_at)
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)
            ctx.set(block.i.valid, 0)
            assert not ctx.get(block.o.valid)
        await send(ctx, block.i, given, random.Random(1), comes)

    async def receiver(ctx):
        await wait(ctx, 0 if reset_at is None else reset_at + 1)
        taken.extend(await receive(ctx, block.o, len(given), random.Random(2), goes))

    simulate(block, sender, receiver, reset=reset)
    assert taken == given


def test_one_leaves_a_cycle_each_a_cycle_after_it_came():
    block = SkidBuffer(unsigned(8))

    async def testbench(ctx):
        ctx.set(block.o.ready, 1)
        ctx.set(block.i.valid, 1)
        for cycle in range(20):
            ctx.set(block.i.payload, cycle)
            *_, ready, valid, payload = await ctx.tick().sample(block.i.ready, block.o.valid, block.o.payload)
            assert ready
            assert valid == (cycle >= SkidBuffer.latency)
            assert not valid or payload == cycle - SkidBuffer.latency

    simulate(block, testbench)


@pytest.mark.parametrize("held", [0, 1, 2])
def test_no_output_depends_on_an_input_of_the_same_cycle(held):
    block = SkidBuffer(unsigned(8))

    async def testbench(ctx):
        ctx.set(block.i.valid, 1)
        await wait(ctx, held)
        seen = set()
        for valid in (0, 1):
            for ready in (0, 1):
                ctx.set(block.i.valid, valid)
                ctx.set(block.i.payload, 3 * valid + ready)
                ctx.set(block.o.ready, ready)
                seen.add((ctx.get(block.i.ready), ctx.get(block.o.valid), ctx.get(block.o.payload)))
        assert seen == {(held < 2, held > 0, 0)}

    simulate(block, testbench)
