"""The sequencer: which beat is which, and that a tile ends only when it may."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import Signal

from systoliq.golden import INT8
from systoliq.hw import ArrayConfig, Schedule
from systoliq.hw.mac import operand_layout
from systoliq.hw.sequencer import Sequencer

from .bench import simulate

CASES = [(1, 1, 1, 1), (5, 2, 1, 1), (2, 7, 3, 3), (1, 4, 5, 1), (9, 9, 2, 4), (8, 3, 4, 4)]  # k, n, rows, cols
WORD = operand_layout(INT8, 2)


def run(k, n, rows, cols, *, full_rate, reset_at=None, groups=8):
    schedule = Schedule(k=k, n=n, config=ArrayConfig(rows=rows, cols=cols))
    block, rng, reset = Sequencer(schedule, WORD), random.Random(k), Signal()
    beats, tiles = schedule.beats, schedule.column_tiles
    ends = []

    async def testbench(ctx):
        word, ends_batch, offered = None, 0, False
        promised, soon = False, True
        taken, cycle = 0, 0
        while taken < groups * beats * tiles:
            if not offered:
                offered = full_rate or rng.random() < 0.6
                word, ends_batch = [rng.randrange(-128, 128) for _ in range(2)], rng.random() < 0.5
                ctx.set(block.i.payload, {"data": word, "last": ends_batch})
            ctx.set(block.i.valid, offered)
            credit, soon = soon if promised else full_rate or rng.random() < 0.5, full_rate or rng.random() < 0.5
            ctx.set(block.credit, credit)
            ctx.set(block.credit_soon, soon)
            resets = cycle == reset_at
            ctx.set(reset, resets)
            *_, ready, shown, address, first, last, batch_last = await ctx.tick().sample(
                block.i.ready, block.word, block.address, block.first, block.last, block.batch_last
            )
            beat, place = taken % beats, taken % (beats * tiles)
            paced = not ends or cycle - ends[-1] >= schedule.drain_cycles
            if offered and not resets:
                assert ready == (beat < beats - 1 or (credit and paced))
            if ready and offered:
                assert (list(shown), address) == (word, place)
                assert (first, last) == (beat == 0, beat == beats - 1)
                assert batch_last == (ends_batch and place == beats * tiles - 1)
                taken, offered = taken + 1, False
                if last:
                    ends.append(cycle)
            else:
                assert (list(shown), first, last) == ([0, 0], 0, 0)
            promised = not last
            if resets:
                taken, offered = 0, False
                ends.clear()
            cycle += 1

    simulate(block, testbench, reset=reset)
    return ends, schedule


@pytest.mark.parametrize("case", CASES, ids=str)
def test_marks_and_admission_under_stalls(case):
    run(*case, full_rate=False)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tiles_follow_as_the_schedule_says(case):
    ends, schedule = run(*case, full_rate=True)
    assert {later - earlier for earlier, later in itertools.pairwise(ends)} == {schedule.tile_cycles}


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("reset_at", [3, 10, 20])
def test_reset_begins_anew(case, reset_at):
    run(*case, full_rate=False, reset_at=reset_at, groups=20)
