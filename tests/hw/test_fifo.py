"""FIFO: beats in their order, whatever stalls; as many as its depth may wait."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import unsigned

from systoliq.hw.fifo import Fifo

from .bench import receive, send, simulate
from .network import stage_bench as bench


@pytest.mark.parametrize(("comes", "goes"), bench.PACES)
@pytest.mark.parametrize("depth", [2, 8, 64])
def test_fifo(depth, comes, goes):
    block = Fifo(unsigned(9), depth=depth, cells="portable")
    words = [random.Random(3).getrandbits(9) for _ in range(3 * depth + 5)]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, words, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(words), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == words


def test_fifo_takes_its_depth_before_one_leaves():
    block = Fifo(unsigned(9), depth=8, cells="portable")

    async def sender(ctx):
        await send(ctx, block.i, range(8), random.Random(1))

    simulate(block, sender)


@pytest.mark.parametrize("depth", [2, 8, 64])
def test_it_offers_a_beat_after_its_latency_and_holds_what_it_states(depth):
    block = Fifo(unsigned(9), depth=depth, cells="portable")

    async def testbench(ctx):
        ctx.set(block.i.valid, 1)
        count, offered = 0, []
        for _ in range(2 * depth + 5):
            *_, ready, valid = await ctx.tick().sample(block.i.ready, block.o.valid)
            count += ready
            offered.append(valid)
        assert (offered.index(1), count) == (block.latency, block.holds)

    simulate(block, testbench)


@pytest.mark.parametrize("depth", [0, 1, 3, 12, -2])
def test_depth_is_a_power_of_two(depth):
    with pytest.raises(ValueError, match=f"depth must be a power of two from 2 on, not {depth}"):
        Fifo(unsigned(9), depth=depth, cells="portable")


@pytest.mark.parametrize("depth", [2, 8, 64])
def test_a_beat_a_cycle(depth):
    run = bench.Bench(Fifo(unsigned(9), depth=depth, cells="portable"))
    run.simulate({"given": {"i": list(range(3 * depth))}, "wanted": {"o": 3 * depth}})
    gaps = [after - before for before, after in itertools.pairwise(run.times["o"])]
    assert set(gaps) == {1}


@pytest.mark.parametrize("depth", [2, 8, 64])
def test_reset_forgets_what_waits(depth):
    words = [random.Random(i).getrandbits(9) for i in range(2 * depth)]
    for cycles in (1, depth, 2 * depth + 3):
        block = Fifo(unsigned(9), depth=depth, cells="portable")
        cut = {"given": {"i": [511] * 3 * depth}, "wanted": {"o": 3 * depth}, "cycles": cycles, "goes": 0.3}
        again = {"given": {"i": words}, "wanted": {"o": len(words)}, "goes": 0.7}
        assert bench.Bench(block, seed=cycles).simulate(cut, again)["o"] == words
