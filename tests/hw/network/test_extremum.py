"""Extremum: the greater or the lesser of two tables' codes, for pairs of bytes, a pair a cycle."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.hw.network.extremum import ExtremumOfTables

from ..bench import simulate


@pytest.mark.parametrize("output", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("operand", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("greater", [True, False])
def test_lane(greater, operand, output):
    rng = np.random.default_rng(3)
    tables = rng.integers(output.min, output.max + 1, (2, 256))
    a, b = rng.integers(0, 256, (2, 500))
    block = ExtremumOfTables(
        tuple(map(list, tables.tolist())), operand, output, greater=greater, cells="portable", kind="lane"
    )
    shown = []

    async def bench(ctx):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            ctx.set(block.a, (x + operand.min) & 255)
            ctx.set(block.b, (y + operand.min) & 255)
            *_, found = await ctx.tick().sample(block.y)
            shown.append(found)
        for _ in range(block.latency):
            *_, found = await ctx.tick().sample(block.y)
            shown.append(found)

    simulate(block, bench)
    wanted = (np.maximum if greater else np.minimum)(tables[0][a], tables[1][b]) & 255
    assert shown[block.latency :] == wanted.tolist()
