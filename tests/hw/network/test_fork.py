"""Fork: each beat once to every way, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import signed, unsigned

from systoliq.hw.hierarchy import configuration, mark_used
from systoliq.hw.network.fork import Fork

from ..bench import receive, send, simulate
from . import stage_bench as bench

COUNT = 60


@pytest.mark.parametrize(("comes", "goes"), bench.PACES)
def test_fork(comes, goes):
    block = Fork(unsigned(6), ways=3)
    words = [random.Random(3).getrandbits(6) for _ in range(COUNT)]
    taken = [[], [], []]

    async def sender(ctx):
        await send(ctx, block.i, words, random.Random(1), comes)

    def receiver(way):
        async def run(ctx):
            taken[way] = await receive(ctx, getattr(block, f"o_{way}"), COUNT, random.Random(2 + way), goes)

        return run

    simulate(block, sender, *map(receiver, range(3)))
    assert taken == [words] * 3


def test_fork_offers_to_each_way_whether_the_others_take_or_not():
    block = Fork(unsigned(6), ways=2)

    async def sender(ctx):
        ctx.set(block.i.payload, 5)
        ctx.set(block.i.valid, 1)
        ctx.set(block.o_0.ready, 1)
        seen = []
        for _ in range(3):
            *_, zero, one, ready = await ctx.tick().sample(block.o_0.valid, block.o_1.valid, block.i.ready)
            seen.append((zero, one, ready))
        assert seen == [(1, 1, 0), (0, 1, 0), (0, 1, 0)]

    simulate(block, sender)


def test_each_way_takes_in_its_own_time():
    """The last one to take a beat may take the next in the cycle after, and the first one waits for no more."""
    block = Fork(unsigned(6), ways=2)
    run = bench.Bench(block)
    run.simulate({"given": {"i": list(range(20))}, "wanted": {"o_0": 20, "o_1": 20}})
    assert run.times["o_0"] == run.times["o_1"] == list(range(20))


def test_reset_forgets_who_took_the_beat():
    words = list(range(1, 20))
    for cycles in range(1, 6):
        block = Fork(unsigned(6), ways=3)
        ways = {f"o_{way}": len(words) for way in range(3)}
        cut = {"given": {"i": [0] * 20}, "wanted": ways, "cycles": cycles, "goes": 0.4}
        taken = bench.Bench(block, seed=cycles).simulate(cut, {"given": {"i": words}, "wanted": ways, "goes": 0.8})
        assert taken == dict.fromkeys(ways, words)


def test_ways_of_one_width_are_one_kind():
    """Int8 and uint8 go the same way: modules of one name are the same hardware."""
    forks = [Fork(shape, ways=2) for shape in (unsigned(8), signed(8))]
    for fork in forks:
        mark_used(fork)
    assert forks[0].kind == forks[1].kind
    assert configuration(forks[0]) == configuration(forks[1])
