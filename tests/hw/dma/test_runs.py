"""The walk: each run of a matrix, group by group, at a run a cycle, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.dma.runs import Run, Walk

from ..bench import receive, simulate, wait
from .memory import Stopwatch


def walk(rows, steps, group, address, row_stride, step_stride, extent, last_extent):
    """(address, extent, step_last, last) of each run."""
    group = group or rows
    runs = []
    for first in range(0, rows, group):
        of_group = range(first, min(first + group, rows))
        for step in range(steps):
            for row in of_group:
                at = (address + row * row_stride + step * step_stride) % 2**32
                size = last_extent if step == steps - 1 else extent
                ends = row == of_group[-1]
                runs.append((at, size, ends, ends and step == steps - 1 and row == rows - 1))
    return runs


def settings(rng, rows, steps):
    return {
        "address": rng.getrandbits(32),
        "row_stride": rng.choice([0, 1, 16, 100, rng.getrandbits(32)]),
        "step_stride": rng.choice([1, 16, rng.getrandbits(20)]),
        "rows": rows,
        "steps": steps,
        "extent": rng.getrandbits(24),
        "last_extent": rng.getrandbits(6),
    }


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
