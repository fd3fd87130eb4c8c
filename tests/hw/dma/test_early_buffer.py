"""The early buffer and the word queue: everything once and in order, a cycle after it was taken, at full rate.

Both are empty after a reset.
"""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.dma.early_buffer import EarlyBuffer
from systoliq.hw.dma.word_queue import WordQueue

from ..bench import send, simulate, wait

BEFORE = [1, 2]
BLOCKS = {
    "early buffer": lambda: EarlyBuffer(unsigned(8), kind="early_buffer"),
    "word queue": lambda: WordQueue(unsigned(8), cells="portable"),
    "word queue of ecp5": lambda: WordQueue(unsigned(8), cells="ecp5"),
}


@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.6, 0.6)])
@pytest.mark.parametrize("name", BLOCKS)
def test_everything_passes_once_and_in_order(comes, goes, name):
    block, reset = BLOCKS[name](), Signal()
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
        assert not ctx.get(block.any)
        took = False
        while len(taken) < len(given):
            take = bool(ctx.get(block.any)) and rng.random() < goes
            ctx.set(block.take, take)
            *_, shown = await ctx.tick().sample(block.taken)
            if took:
                taken.append(shown)
            took = take
            cycles[0] += 1

    simulate(block, sender, receiver, reset=reset)
    assert taken == given
    if comes == goes == 1.0:
        assert cycles[0] <= len(given) + 4
