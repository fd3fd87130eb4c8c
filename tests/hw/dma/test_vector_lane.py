"""A lane of the vector unit against exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from systoliq.hw.dma.vector_lane import ENTRY_BITS, LARGEST_SHIFT, VectorLane

from ..bench import simulate

MOST = 1 << (ENTRY_BITS - 1)
EDGES = [-MOST, 1 - MOST, -1, 0, 1, MOST - 1]


def rounded(total, shift, unsigned):
    """Half to even, saturated, as a byte."""
    low, high = (0, 255) if unsigned else (-128, 127)
    return max(low, min(high, round(Fraction(total, 1 << shift)))) & 0xFF


@pytest.mark.parametrize("shift", [0, 1, 2, 7, LARGEST_SHIFT])
@pytest.mark.parametrize("unsigned", [0, 1])
def test_a_lane_rounds_half_to_even_and_saturates(shift, unsigned):
    rng, block = random.Random(shift), VectorLane(cells="portable")
    near = [(value << shift >> 1) + step for value in range(-7, 8) for step in (-1, 0, 1)]
    tables = [[*EDGES, *near, *(rng.randrange(-MOST, MOST) for _ in range(256))][:256] for _ in range(2)]
    pairs = [(0, 0), (0, 5), (5, 5), *((at, 3) for at in range(256)), *((3, at) for at in range(256))]

    async def testbench(ctx):
        ctx.set(block.rounding.shift, shift)
        ctx.set(block.rounding.even, (1 << shift) if shift else 0)
        ctx.set(block.rounding.half, (1 << shift - 1) - 1 if shift else 0)
        ctx.set(block.rounding.unsigned, unsigned)
        ctx.set(block.load_a, 1)
        ctx.set(block.load_b, 1)
        for at, (a, b) in enumerate(zip(*tables, strict=True)):
            ctx.set(block.at, at)
            ctx.set(block.entry_a, a)
            ctx.set(block.entry_b, b)
            await ctx.tick()
        ctx.set(block.load_a, 0)
        ctx.set(block.load_b, 0)
        ctx.set(block.read, 1)
        for pair, largest in ((1, 0), (0, 0), (1, 1), (0, 1)):
            ctx.set(block.rounding.pair, pair)
            ctx.set(block.rounding.largest, largest)
            for index in range(len(pairs) + block.latency):
                if index < len(pairs):
                    ctx.set(block.a, pairs[index][0])
                    ctx.set(block.b, pairs[index][1])
                if index >= block.latency:
                    a, b = pairs[index - block.latency]
                    entries = tables[0][a], pair * tables[1][b]
                    total = max(entries) if largest else sum(entries)
                    assert ctx.get(block.y) == rounded(total, shift, unsigned), (a, b)
                await ctx.tick()

    simulate(block, testbench)
