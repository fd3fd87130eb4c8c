"""Round robin: an offer stays, and nobody is passed by twice."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.soc.round_robin import RoundRobin

from ..bench import simulate


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("chance", [0.2, 0.9])
def test_everybody_has_a_turn(count, chance):
    block, rng = RoundRobin(count), random.Random(count)

    async def testbench(ctx):
        asking, passed, offered = [False] * count, [0] * count, None
        for _ in range(600):
            asking = [asks or rng.random() < chance for asks in asking]
            taken = rng.random() < 0.5
            ctx.set(block.asks, sum(asks << index for index, asks in enumerate(asking)))
            ctx.set(block.taken, taken)
            *_, any_asks, who = await ctx.tick().sample(block.any, block.who)
            assert any_asks == any(asking)
            if not any_asks:
                continue
            assert asking[who]
            assert offered in (None, who)
            offered = None if taken else who
            if taken:
                passed = [0 if index == who or not asks else passed[index] + 1 for index, asks in enumerate(asking)]
                assert max(passed) < count
                asking[who] = False

    simulate(block, testbench)
