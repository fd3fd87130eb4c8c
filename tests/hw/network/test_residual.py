"""The lane of a residual sum: all addends beside random sums of each column, back to back."""

from __future__ import annotations

import random

import numpy as np

from systoliq.golden.requantization import Requantization
from systoliq.golden.rescale import requantize_float32
from systoliq.hw.network.residual import ResidualLane

from ..bench import simulate
from . import stage_bench as bench


def test_lane():
    rng = random.Random(3)
    node = bench.residual(rng)
    while node.layer.n < 3:
        node = bench.residual(rng)
    columns = range(0, node.layer.n, 2)
    scales, y = node.scale[columns.start :: columns.step], node.output
    lane = ResidualLane(
        node, columns, Requantization.from_scales(scales, y.zero_point, y.format), cells="portable", kind="lane"
    )
    addend = node.inputs[1]
    lows, highs = node.layer.accumulator_range()
    cases = [(rng.randrange(len(columns)), int(code)) for code in addend.codes for _ in range(2)]
    cases = [(index, rng.randint(int(lows[columns[index]]), int(highs[columns[index]])), code) for index, code in cases]
    found = []

    async def drive(ctx):
        for index, total, code in [*cases, *[cases[0]] * lane.latency]:
            ctx.set(lane.index, index)
            ctx.set(lane.sum, total)
            ctx.set(lane.addend, code & 255)
            await ctx.tick()
            found.append(ctx.get(lane.y))

    simulate(lane, drive)
    expected = []
    for index, total, code in cases:
        column = columns[index]
        step = code - addend.zero_point
        whole = (total << node.fraction_bits) + step * int(node.factors[column]) + int(node.constants[column])
        expected.append(int(requantize_float32(np.int32(whole), node.scale[column], y.zero_point, y.format)))
    assert found[lane.latency - 1 :][: len(cases)] == expected
