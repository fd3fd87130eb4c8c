"""The walk: each run of a matrix, group by group, at a run a cycle, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.dma.runs import Run, Walk

from ..bench import receive, simulate, wait
from .memory import Stopwatch
from .some_walks import settings, walk


def fields(payload):
    run = Run.from_bits(payload)
    return run.address, run.extent, bool(run.mark.step_last), bool(run.mark.last)


@pytest.mark.parametrize("group", [None, 1, 2, 3, 8])
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_runs_of_a_walk(group, chance):
    block, rng, stopwatch = Walk(group=group, kind="walk"), random.Random(group or 0), Stopwatch()
    shapes = [(1, 1), (1, 3), (2, 1), (8, 2), (9, 3), (16, 1), (7, 2), (24, 2), (17, 1)]

    async def testbench(ctx):
        for rows, steps in shapes:
            given = settings(rng, rows, steps)
            expected = walk(group=group, **given)
            assert not ctx.get(block.busy)
            ctx.set(block.settings, given)
            ctx.set(block.start, 1)
            await ctx.tick()
            ctx.set(block.start, rng.getrandbits(1))  # while it is busy: nothing
            ctx.set(block.settings, settings(rng, 5, 5))
            before = stopwatch.cycles
            taken = await receive(ctx, block.o, len(expected), rng, chance)
            if chance == 1:
                assert stopwatch.cycles - before <= len(expected) + 2 + -(-rows // (group or rows))
            ctx.set(block.start, 0)
            assert [fields(each) for each in taken] == expected
            assert not ctx.get(block.o.valid)
        stopwatch.stopped = True

    simulate(block, testbench, stopwatch.run)


def test_a_reset_ends_a_walk():
    block, reset = Walk(group=2, kind="walk"), Signal()
    given = settings(random.Random(1), 4, 4)

    async def testbench(ctx):
        ctx.set(block.settings, given)
        ctx.set(block.start, 1)
        await ctx.tick()
        ctx.set(block.start, 0)
        await receive(ctx, block.o, 3, random.Random(2))
        ctx.set(reset, 1)
        await wait(ctx, 1)
        ctx.set(reset, 0)
        assert not ctx.get(block.busy)
        assert not ctx.get(block.o.valid)

    simulate(block, testbench, reset=reset)
