"""The word queue: everything once and in order, a cycle after it was taken, at full rate, empty after a reset."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.dma.word_queue import WordQueue

from ..bench import send, simulate, wait

BEFORE = [1, 2]


@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.6, 0.6)])
@pytest.mark.parametrize("cells", ["portable", "ecp5"])
def test_everything_passes_once_and_in_order(comes, goes, cells):
    block, reset = WordQueue(unsigned(8), cells=cells), Signal()
    rng = random.Random(1)
    given = [rng.getrandbits(8) for _ in range(300)]
    taken, cycles = [], [0]

    async def sender(ctx):
        await send(ctx, block.i, BEFORE, random.Random(2))
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await send(ctx, block.i, given, random.Random(3), comes)

    async def receiver(ctx):
        await wait(ctx, len(BEFORE) + 1)
        assert not ctx.get(block.there)
        took = False
        while len(taken) < len(given):
            take = bool(ctx.get(block.there)) and rng.random() < goes
            ctx.set(block.take, take)
            *_, shown = await ctx.tick().sample(block.word)
            if took:
                taken.append(shown)
            took = take
            cycles[0] += 1

    simulate(block, sender, receiver, reset=reset)
    assert taken == given
    if comes == goes == 1.0:
        assert cycles[0] <= len(given) + 4
