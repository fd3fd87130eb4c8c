"""Gearbox, fork and FIFO: what goes in comes out, in order, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import unsigned

from systoliq.hw.network.fifo import Fifo
from systoliq.hw.network.fork import Fork
from systoliq.hw.network.gearbox import Gearbox

from ..bench import receive, send, simulate

PACES = [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.6, 0.7)]
COUNT = 60


@pytest.mark.parametrize(("comes", "goes"), PACES)
@pytest.mark.parametrize(("of", "to"), [(1, 1), (4, 1), (6, 2), (1, 3), (2, 8)])
def test_gearbox(of, to, comes, goes):
    block = Gearbox(unsigned(5), of=of, to=to)
    rng = random.Random(of)
    total = COUNT // max(of, to) * max(of, to)
    elements = [rng.randrange(32) for _ in range(total)]
    lasts = [rng.random() < 0.3 or of < to for _ in range(total // of)]  # narrow ones: marked only where a beat ends
    if of < to:
        lasts = [i % (to // of) == to // of - 1 and rng.random() < 0.5 for i in range(total // of)]
    beats = [{"data": elements[i * of : (i + 1) * of], "last": last} for i, last in enumerate(lasts)]
    expected = []
    for i in range(total // to):
        word = sum(element << 5 * j for j, element in enumerate(elements[i * to : (i + 1) * to]))
        end = (i + 1) * to
        expected.append(word | (end % of == 0 and lasts[end // of - 1]) << 5 * to)
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, beats, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == expected


def test_gearbox_refuses_widths_that_do_not_divide():
    with pytest.raises(ValueError, match="one width must divide the other, not 4 and 6"):
        Gearbox(unsigned(8), of=4, to=6)


@pytest.mark.parametrize(("comes", "goes"), PACES)
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


@pytest.mark.parametrize(("comes", "goes"), PACES)
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
