"""The tiler: the words of every beat in the order of the loops, when there is leave and not before."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.tiler import Tiler

from ..bench import simulate, wait

CONFIGS = [
    EngineConfig(rows=1, cols=1, depth=1, lanes=1, a_words=16, b_words=64),
    EngineConfig(rows=3, cols=4, depth=2, lanes=2, a_words=16, b_words=32),
    EngineConfig(rows=4, cols=2, depth=5, lanes=2, a_words=8, b_words=32),
    EngineConfig(rows=2, cols=6, depth=1, lanes=1, a_words=16, b_words=32, cells="ice40"),
]
JOBS = [(1, 1, 1), (5, 7, 3), (4, 8, 9), (9, 5, 2), (3, 1, 6)]  # m, k, n


def beats(config, m, k, n, a_base, b_base):
    """(address of A, fresh, released; the same of B; first, last, keep) of each beat of a job."""
    groups, tiles, count = (-(-size // step) for size, step in ((m, config.rows), (n, config.cols), (k, config.depth)))
    for group, tile, beat in itertools.product(range(groups), range(tiles), range(count)):
        inside = min(k - beat * config.depth, config.depth)
        yield (
            ((a_base + group * count + beat) % config.a_words, tile == 0, tile == tiles - 1),
            ((b_base + tile * count + beat) % config.b_words, group == 0, group == groups - 1),
            (beat == 0, beat == count - 1, (1 << inside) - 1),
        )


def run(config, chance, *, reset_at=None):
    block, rng, reset = Tiler(config), random.Random(config.rows), Signal()
    ends, gaps = [], set()

    async def job(ctx, m, k, n, bases, limit=None):
        """Gives whether it ended before `limit` cycles were over."""
        for name, value in (("m", m), ("k", k), ("n", n)):
            ctx.set(getattr(block, name), value)
        await wait(ctx, 3)
        wanted = list(beats(config, m, k, n, *bases))
        there = {name: rng.random() <= chance for name in "ab"}
        for name in "ab":
            ctx.set(getattr(block, f"{name}_coming"), there[name])
        ctx.set(block.start, 1)
        await ctx.tick()
        ctx.set(block.start, 0)
        cycle = 0
        ends.clear()
        while wanted:
            if cycle == limit:
                return False
            credit = rng.random() <= chance
            ctx.set(block.credit, credit)
            taken = wanted[0] if ctx.get(block.take) else None
            has = (there["a"] or not wanted[0][0][1]) and (there["b"] or not wanted[0][1][1])
            for side, name in enumerate("ab"):  # what is there in the next cycle
                left = wanted[bool(taken) :]
                there[name] = there[name] and not (taken and taken[side][1])
                there[name] = there[name] or (any(beat[side][1] for beat in left) and rng.random() <= chance)
                ctx.set(getattr(block, f"{name}_coming"), there[name])
            names = ("address", "fresh", "release")
            ports = [getattr(block, f"{side}_{name}") for side in "ab" for name in names]
            (
                *_,
                take,
                starved,
                first,
                last,
                keep,
                a_address,
                a_fresh,
                a_release,
                b_address,
                b_fresh,
                b_release,
            ) = await ctx.tick().sample(block.take, block.starved, block.first, block.last, block.keep, *ports)
            a, b, (begins, is_last, inside) = wanted[0]
            assert starved == (not has)
            if take:
                assert has
                found = ((a_address, a_fresh, a_release), (b_address, b_fresh, b_release), (first, last, keep))
                assert found == (a, b, (begins, is_last, inside))
                if last:
                    gaps.update({cycle - ends[-1]} if ends else ())
                    ends.append(cycle)
                wanted.pop(0)
            else:
                assert (first, last, a_release, b_release) == (0, 0, 0, 0)
                assert not has or is_last
            cycle += 1
        for after in range(config.drain_cycles + 6):
            *_, take, starved, rests = await ctx.tick().sample(block.take, block.starved, block.rests)
            assert not take
            assert not starved
            assert not (rests and after + 1 < config.drain_cycles)
        assert rests
        return True

    async def testbench(ctx):
        bases = [0, 0]
        for index, (m, k, n) in enumerate(JOBS):
            ended = await job(ctx, m, k, n, bases, limit=reset_at if index == 1 else None)
            groups, tiles, count = (
                -(-size // step) for size, step in ((m, config.rows), (n, config.cols), (k, config.depth))
            )
            bases = [bases[0] + groups * count, bases[1] + tiles * count]
            if not ended:
                ctx.set(reset, 1)
                await ctx.tick()
                ctx.set(reset, 0)
                bases = [0, 0]

    simulate(block, testbench, reset=reset)
    return gaps


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.rows}x{config.cols}x{config.depth}")
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_beats_of_job_after_job(config, chance):
    gaps = run(config, chance)
    assert min(gaps) >= config.drain_cycles


@pytest.mark.parametrize("reset_at", [1, 5, 12])
def test_reset_begins_anew(reset_at):
    run(CONFIGS[1], 0.6, reset_at=reset_at)


def test_credit_is_waited_for_by_the_last_beat_alone():
    block = Tiler(CONFIGS[0])

    async def testbench(ctx):
        for name, value in (("m", 1), ("k", 3), ("n", 1), ("a_coming", 1), ("b_coming", 1)):
            ctx.set(getattr(block, name), value)
        await wait(ctx, 3)
        ctx.set(block.start, 1)
        await ctx.tick()
        ctx.set(block.start, 0)
        taken = []
        for cycle in range(60):
            ctx.set(block.credit, cycle >= 40)
            *_, take = await ctx.tick().sample(block.take)
            taken += [cycle] * take
        assert len(taken) == 3
        assert taken[1] < 10
        assert 40 <= taken[2] < 45

    simulate(block, testbench)
