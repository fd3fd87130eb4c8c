"""The loops: every length in every step, round after round, and the pace."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.engine.loop import Countdown, Pace

from ..bench import simulate, trace

STEPS = [1, 2, 3, 7, 8, 16, 256]


class Walk(wiring.Component):
    def __init__(self, step, *, late=False):
        self.step, self.late = step, late
        super().__init__(
            {
                "length": In(16), "load": In(1), "advance": In(1),
                "left": Out(16), "initial": Out(1), "final": Out(1), "taken": Out(16), "inside": Out(step),
            }
        )  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        loop = Countdown(m, self.length, self.step, name="loop", load=self.load, late=self.late)
        for name in ("left", "initial", "final", "taken", "inside"):
            m.d.comb += getattr(self, name).eq(getattr(loop, name))
        with m.If(self.advance):
            loop.advance()
        return m


def lengths(step, rng):
    near = {step * count + more for count in (1, 2, 3, 4, 5) for more in (-1, 0, 1)}
    return [length for length in sorted(near | {1, 65535 if step > 100 else 40}) if 0 < length < 65536]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("chance", [1.0, 0.5])
@pytest.mark.parametrize("late", [False, True])
def test_rounds_cover_the_length_over_and_over(step, chance, late):
    """Late ones show the first and the last round at once, and the rest a cycle later."""
    block, rng = Walk(step, late=late), random.Random(step)
    names = ("initial", "final", *(() if late else ("left", "taken", "inside")))

    async def testbench(ctx):
        for length in lengths(step, rng):
            ctx.set(block.length, length)
            await ctx.tick()
            ctx.set(block.load, 1)
            await ctx.tick()
            ctx.set(block.load, 0)
            rounds = [(left, min(left, step)) for left in range(length, 0, -step)]
            for left, taken in rounds * 2 + rounds[:1]:
                advances = False
                while not advances:
                    advances = rng.random() <= chance
                    ctx.set(block.advance, advances)
                    shown = [ctx.get(getattr(block, name)) for name in names]
                    wanted = [left == length, left <= step, left, taken, (1 << taken) - 1]
                    assert shown == wanted[: len(names)], (length, left)
                    await ctx.tick()
            ctx.set(block.advance, 0)

    simulate(block, testbench)


class Paced(wiring.Component):
    def __init__(self, cycles):
        self.cycles = cycles
        super().__init__({"begin": In(1), "over": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.over.eq(Pace(m, self.cycles, name="pace", begin=self.begin).over)
        return m


@pytest.mark.parametrize("cycles", [1, 2, 3, 8, 13])
def test_pace_is_over_but_for_the_cycles_after_its_beginning(cycles):
    rng = random.Random(cycles)
    begins = [rng.random() < 0.15 for _ in range(200)]
    reset_at = 1 + begins.index(True, 100)
    shown = trace(Paced(cycles), [{"begin": begin, "rst": i == reset_at} for i, begin in enumerate(begins)])
    for cycle, line in enumerate(shown):
        since = reset_at + 1 if cycle > reset_at else 0
        assert line["over"] == (not any(begins[max(cycle - cycles + 1, since) : cycle])), cycle
