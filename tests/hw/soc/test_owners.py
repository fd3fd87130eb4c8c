"""Owners: numbers come out in order, there is room for four, and the head is there in the next cycle."""

from __future__ import annotations

import random
from collections import deque

import pytest

from systoliq.hw.soc.owners import DEPTH, Owners

from ..bench import simulate


@pytest.mark.parametrize("chance", [0.3, 0.7])
def test_in_order(chance):
    block, rng = Owners(3), random.Random(1)

    async def testbench(ctx):
        held = deque()
        for _ in range(500):
            put, who = len(held) < DEPTH and rng.random() < chance, rng.randrange(3)
            take = bool(held) and rng.random() < 0.5
            for name, value in (("put", put), ("who", who), ("take", take)):
                ctx.set(getattr(block, name), value)
            *_, room, any_held, head = await ctx.tick().sample(block.room, block.any, block.head)
            assert (room, any_held) == (len(held) < DEPTH, bool(held))
            assert not held or head == held[0]
            if take:
                held.popleft()
            if put:
                held.append(who)

    simulate(block, testbench)
