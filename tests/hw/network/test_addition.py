"""Addition: both streams' elements through the tables, all pairs of bytes, whatever stalls."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.network import addition

from ..bench import simulate
from .addition_nodes import node

SCALES = [(0.031, 0.017, 0.043), (0.5, 0.5, 0.5), (0.25, 0.5, 1.0), (0.9, 0.002, 0.7)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("scales", SCALES)
def test_lane_gives_the_sum_of_all_pairs(scales, form):
    golden, (a, b) = node(scales, form)
    expected = golden.apply(a, b)[0]
    tables = SumTables.of(expected, form)
    block = addition.SumOfTables(tables, form, cells="portable", kind="lane")
    rng = np.random.default_rng(0)
    order = rng.permutation(65536)[:6000]
    shown = []

    async def bench(ctx):
        for index in order:
            ctx.set(block.a, int(a.reshape(-1)[index]) & 255)
            ctx.set(block.b, int(b.reshape(-1)[index]) & 255)
            *_, y = await ctx.tick().sample(block.y)
            shown.append(y)
        for _ in range(block.latency):
            *_, y = await ctx.tick().sample(block.y)
            shown.append(y)

    simulate(block, bench, limit=7000)
    assert shown[block.latency :] == [int(y) & 255 for y in expected.reshape(-1)[order]]
