"""FIFO, late or not: payloads in their order, whatever stalls; full rate, as many as it states, empty after a reset."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.fifo import Fifo

from .bench import receive, send, simulate, wait
from .network import stage_bench as bench

pytestmark = pytest.mark.parametrize("late", [False, True], ids=["", "late"])


@pytest.mark.parametrize(("comes", "goes"), bench.PACES)
@pytest.mark.parametrize("depth", [2, 8, 64])
def test_fifo(depth, comes, goes, late):
    block = Fifo(unsigned(9), depth=depth, cells="portable", late=late)
    words = [random.Random(3).getrandbits(9) for _ in range(3 * depth + 5)]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, words, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(words), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == words


def test_fifo_takes_its_depth_before_one_leaves(late):
    block = Fifo(unsigned(9), depth=8, cells="portable", late=late)

    async def sender(ctx):
        await send(ctx, block.i, range(8), random.Random(1))

    simulate(block, sender)


@pytest.mark.parametrize("depth", [2, 8, 64])
def test_it_offers_a_beat_after_its_latency_and_holds_what_it_states(depth, late):
    block = Fifo(unsigned(9), depth=depth, cells="portable", late=late)

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
def test_depth_is_a_power_of_two(depth, late):
    with pytest.raises(ValueError, match=f"depth must be a power of two from 2 on, not {depth}"):
        Fifo(unsigned(9), depth=depth, cells="portable", late=late)


@pytest.mark.parametrize("depth", [2, 8, 64])
def test_a_beat_a_cycle(depth, late):
    run = bench.Bench(Fifo(unsigned(9), depth=depth, cells="portable", late=late))
    run.simulate({"given": {"i": list(range(3 * depth))}, "wanted": {"o": 3 * depth}})
    gaps = [after - before for before, after in itertools.pairwise(run.times["o"])]
    assert set(gaps) == ({1, 2} if late and depth == 2 else {1})


@pytest.mark.parametrize("depth", [2, 8, 64])
def test_reset_forgets_what_waits(depth, late):
    words = [random.Random(i).getrandbits(9) for i in range(2 * depth)]
    for cycles in (1, depth, 2 * depth + 3):
        block = Fifo(unsigned(9), depth=depth, cells="portable", late=late)
        cut = {"given": {"i": [511] * 3 * depth}, "wanted": {"o": 3 * depth}, "cycles": cycles, "goes": 0.3}
        again = {"given": {"i": words}, "wanted": {"o": len(words)}, "goes": 0.7}
        assert bench.Bench(block, seed=cycles).simulate(cut, again)["o"] == words


@pytest.mark.parametrize("depth", [2, 4, 64])
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.6, 0.6)])
def test_everything_after_a_reset_passes_once_and_in_order(depth, comes, goes, late):
    block, reset = Fifo(unsigned(8), depth=depth, cells="portable", late=late), Signal()
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


def test_a_full_one_gives_and_takes_a_payload_a_cycle(late):
    block = Fifo(unsigned(8), depth=16, cells="portable", late=late)

    async def testbench(ctx):
        ctx.set(block.i.valid, 1)
        await wait(ctx, 40)
        ctx.set(block.o.ready, 1)
        await wait(ctx, 3)
        for _ in range(30):
            *_, ready, valid = await ctx.tick().sample(block.i.ready, block.o.valid)
            assert (ready, valid) == (1, 1)

    simulate(block, testbench)
