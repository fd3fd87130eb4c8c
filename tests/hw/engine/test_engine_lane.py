"""The engine lane: a sum corrected for both zero points, with its bias, rescaled or not, column after column."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import INT8
from systoliq.golden.requantization import Requantization
from systoliq.hw.block_ram import BlockRam
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.engine_lane import ROW_SUM_BITS, EngineLane

from ..bench import corner_of, trace, with_models, wrapped


def column(rng):
    """(bias, zero point, scale) of a column."""
    return corner_of(rng, 24), corner_of(rng, 8), np.float32(2.0 ** rng.uniform(-24, -6))


def entries(columns):
    for bias, zero_point, scale in columns:
        constants = Requantization.from_scales(scale, 0, INT8)
        yield {
            "bias": bias, "zero_point": zero_point, "multiplier": constants.multiplier[0], "shift": constants.shift[0],
        }  # fmt: skip


def run(config, folder, *, y_unsigned, int32, tiles=5, seed=0):
    block, rng = EngineLane(config), random.Random(seed)
    interval, early = config.interval, BlockRam.latency_of(config.cells)
    columns = [column(rng) for _ in range(config.table_words)]
    zero_point = corner_of(rng, 8)
    settings = {"y_unsigned": y_unsigned, "int32": int32, "zero_point": zero_point}
    lines = [
        settings | {"column_write": 1, "column_address": address, "column_value": entry}
        for address, entry in enumerate(entries(columns))
    ]
    steps, sums, rows, wanted, right = {}, {}, {}, {}, {}
    at = len(lines) + 4 + early
    for tile in range(tiles):
        base = tile * interval % config.table_words
        used = rng.randrange(1, interval + 1)
        slots = 1 if config.one_product else rng.randrange(1, 5)
        column_sums = [corner_of(rng, ROW_SUM_BITS) for _ in range(interval)]
        context = {"zero_point": corner_of(rng, 8), "row_sum": corner_of(rng, ROW_SUM_BITS + 1)}
        for row in range(-1, slots):
            if row > 0:
                context = {"zero_point": corner_of(rng, 8), "row_sum": corner_of(rng, ROW_SUM_BITS + 1)}
            pushes = row >= 0
            for step in range(interval):
                steps[at] = {"column_sum": not pushes, "push": pushes and step < used, "step": step}
                steps.setdefault(at - early, {})["entry"] = (base + step) % config.table_words
                total = corner_of(rng, 30) if pushes else column_sums[step]
                sums[at] = [total if i == step else corner_of(rng, 30) for i in range(interval)]
                if step == 0 and (pushes or config.one_product):
                    rows[at] = context
                if step == 0 and pushes:
                    right[at + interval] = context
                if pushes and step < used:
                    bias, b_zero, scale = columns[(base + step) % config.table_words]
                    acc = total - context["zero_point"] * column_sums[step] - b_zero * context["row_sum"] + bias
                    wanted[at + block.latency] = (wrapped(acc, 32), scale)
                at += 1
        at += rng.choice([0, 0, 3])
    noise = {"zero_point": 5, "row_sum": -77}
    none = {"column_sum": 0, "push": 0, "step": 0, "entry": 0}
    lines += [
        {
            "column_write": 0,
            "step": none | steps.get(cycle, {}),
            "sums": sums.get(cycle, [0] * interval),
            "row": rows.get(cycle, noise),
        }
        for cycle in range(len(lines), at + block.latency + 1)
    ]
    shown = trace(block, lines, cells=config.cells if folder else "portable", folder=folder)
    for cycle, (acc, scale) in wanted.items():
        if int32:
            y = acc & 0xFFFFFFFF
        else:
            constants = Requantization.from_scales(scale, zero_point, INT8)
            y = (int(constants.apply(np.array([acc]))[0]) + 128 * y_unsigned) & 0xFF
        assert shown[cycle]["y"] == y, cycle
    for cycle, context in right.items():
        assert (shown[cycle]["row_next"].zero_point, shown[cycle]["row_next"].row_sum) == tuple(context.values())
    for cycle, step in steps.items():
        if "push" in step:
            passed = shown[cycle + interval]["step_next"]
            assert all(passed[name] == value for name, value in step.items() if name != "entry")


@pytest.mark.parametrize(("cols", "lanes"), [(1, 1), (4, 4), (4, 2), (6, 2), (5, 1)])
@pytest.mark.parametrize(("y_unsigned", "int32"), [(0, 0), (1, 0), (0, 1)])
def test_portable(cols, lanes, y_unsigned, int32):
    run(
        EngineConfig(rows=2, cols=cols, lanes=lanes, max_columns=32),
        None,
        y_unsigned=y_unsigned,
        int32=int32,
        seed=cols,
    )


@pytest.mark.parametrize("cells", with_models("ecp5", "ice40", "gowin"))
@pytest.mark.parametrize(("rows", "cols", "lanes", "int32"), [(2, 4, 2, 0), (1, 3, 1, 1)])
def test_of_cells(tmp_path, cells, rows, cols, lanes, int32):
    config = EngineConfig(rows=rows, cols=cols, lanes=lanes, max_columns=32, cells=cells)
    run(config, tmp_path, y_unsigned=1, int32=int32, seed=rows)
