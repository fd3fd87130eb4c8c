"""Credit: says that there is one exactly while the count is not 0."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.credit import Credit

from .bench import simulate


class Counted(wiring.Component):
    def __init__(self, most, full):
        self.most, self.full = most, full
        super().__init__({"give": In(1), "take": In(1), "there": Out(1)})

    def elaborate(self, platform):
        m = Module()
        credit = Credit(m, self.most, name="credit", full=self.full, give=self.give, take=self.take)
        m.d.comb += self.there.eq(credit.any)
        return m


@pytest.mark.parametrize("most", [1, 2, 3, 7, 8, 13])
@pytest.mark.parametrize("full", [True, False])
def test_any_is_that_the_count_is_not_zero(most, full):
    block = Counted(most, full)
    rng = random.Random(most)
    seen = set()

    async def testbench(ctx):
        count = most if full else 0
        for cycle in range(600):
            assert ctx.get(block.there) == (count > 0)
            seen.add(count)
            filling = cycle // 50 % 2  # so that it is empty as often as full
            take = count > 0 and rng.random() < (0.2 if filling else 0.8)
            give = count - take < most and rng.random() < (0.8 if filling else 0.2)
            ctx.set(block.take, take)
            ctx.set(block.give, give)
            count += give - take
            await ctx.tick()

    simulate(block, testbench)
    assert seen == set(range(most + 1))
