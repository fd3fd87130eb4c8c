"""Pairwise: each pair of elements of two streams through a lane, in order, whatever stalls."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import INT8
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.network.addition import SumOfTables
from systoliq.hw.network.pairwise import Pairwise

from ..bench import receive, send, simulate
from .addition_nodes import node


@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.6, 0.7)])
def test_streams(comes, goes):
    golden, (a, b) = node((0.031, 0.017, 0.043), INT8)
    expected = golden.apply(a, b)[0]
    tables = SumTables.of(expected, INT8)
    lanes = [SumOfTables(tables, INT8, cells="portable", kind="lane") for _ in range(2)]
    block = Pairwise(lanes, INT8, INT8, cells="portable", kind="sum")
    order = np.random.default_rng(1).integers(0, 65536, (80, 2))
    y = expected.reshape(-1)[order]
    lasts = [i % 7 == 6 for i in range(80)]
    words = [int(r[0]) & 255 | (int(r[1]) & 255) << 8 | last << 16 for r, last in zip(y, lasts, strict=True)]
    taken = []

    def sender(port, operand, seed):
        values = operand.reshape(-1)[order].tolist()
        beats = [{"data": value, "last": last} for value, last in zip(values, lasts, strict=True)]

        async def run(ctx):
            await send(ctx, port, beats, random.Random(seed), comes)

        return run

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(words), random.Random(3), goes))

    simulate(block, sender(block.i_0, a, 1), sender(block.i_1, b, 2), receiver)
    assert taken == words
