"""The loader: a job's words and no more, and the word whose end is wrong, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.golden import INT8
from systoliq.hw.engine.loader import Loader
from systoliq.hw.mac import operand_layout

from ..bench import simulate, wait

WORD = operand_layout(INT8, 2)
SIZES = [(1, 1, 1, 1), (3, 1, 1, 5), (4, 2, 9, 4), (8, 4, 8, 8), (5, 3, 11, 7)]  # span, depth, length, k


class Job:
    """A job's words through `block`; `ends` is the word that comes with `last`."""

    def __init__(self, block, rng, chance):
        self.block, self.rng, self.chance = block, rng, chance
        self.passed, self.events = [], []

    async def run(self, ctx, words, ends, cycles, *, halt_after=None):
        block, offered, index = self.block, False, 0
        self.passed, self.events = [], []
        halted, had_room = False, bool(ctx.get(block.room))
        for _ in range(cycles):
            offered = offered or (index < len(words) and self.rng.random() <= self.chance)
            if offered:
                ctx.set(block.i.payload, {"data": words[index], "last": index == ends})
            ctx.set(block.i.valid, offered)
            room, more = (self.rng.random() <= self.chance for _ in range(2))
            ctx.set(block.room, room)
            ctx.set(block.more, more)
            halt = halt_after is not None and len(self.passed) >= halt_after
            ctx.set(block.halt, halt)
            *_, ready, put, word, early, late = await ctx.tick().sample(
                block.i.ready, block.put, block.o, block.early, block.late
            )
            passed = offered and ready
            assert passed == put
            assert had_room or not ready
            assert not (halted and passed)
            assert passed or not (early or late)
            halted, had_room = halt, more if passed else room
            if passed:
                assert list(word) == words[index]
                self.passed.append(index)
                self.events += [(name, index) for name, event in (("early", early), ("late", late)) if event]
                index, offered = index + 1, False
        ctx.set(block.i.valid, 0)
        ctx.set(block.halt, 0)


async def start(ctx, block, length, k):
    ctx.set(block.length, length)
    ctx.set(block.k, k)
    await wait(ctx, 2)
    ctx.set(block.start, 1)
    await ctx.tick()
    ctx.set(block.start, 0)


@pytest.mark.parametrize(("span", "depth", "length", "k"), SIZES)
@pytest.mark.parametrize("chance", [1.0, 0.6])
@pytest.mark.parametrize("halts", [False, True])
def test_words_of_a_job(span, depth, length, k, chance, halts):
    count = -(-length // span) * -(-k // depth)
    block, rng, reset = Loader(WORD, span=span, depth=depth, kind="loader"), random.Random(count), Signal()
    words = [[rng.randrange(-128, 128) for _ in range(2)] for _ in range(count + 3)]
    cycles = 30 + 8 * count
    job = Job(block, rng, chance)

    async def testbench(ctx):
        await job.run(ctx, words, None, 10)
        assert not job.passed, "before a start"
        for ends in (count - 1, 0, count // 2, count + 1, count - 1):
            await start(ctx, block, length, k)
            assert ctx.get(block.active)
            if halts:
                after = rng.randrange(count)
                await job.run(ctx, words, count - 1, cycles, halt_after=after)
                assert not ctx.get(block.active)
                assert after <= len(job.passed) <= min(after + 1, count)
                continue
            await job.run(ctx, words, ends, cycles)
            assert not ctx.get(block.active)
            if ends < count - 1:
                assert job.events == [("early", ends)]
                assert len(job.passed) == ends + 1
            else:
                assert job.events == ([] if ends == count - 1 else [("late", count - 1)])
                assert len(job.passed) == count
        await start(ctx, block, length, k)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await job.run(ctx, words, None, 10)
        assert not job.passed, "after a reset"

    simulate(block, testbench, reset=reset, limit=60_000)
