"""The float8 engine lane: a sum of one column after the other, times the scale that the table has for it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2
from systoliq.golden.float8_matmul import Sums
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.wide import Wide
from systoliq.hw.block_ram import BlockRam
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.float8_lane import Float8EngineLane
from systoliq.hw.float8_requantizer import exponents_of

from ..bench import corner_of, trace, with_models


def golden(config, total, scale):
    """The code of ``total``, a number in units of both least values."""
    unit = sum(form.unit for form in config.array.float8)
    sums = Sums(Wide.of_integers(np.array([total], object), unit), np.zeros(1, bool), np.zeros(1, np.int8))
    return int(Float8Requantization.from_scales(scale, config.y).apply(sums).view(np.uint8)[0])


def run(config, folder, *, rows=6, seed=0):
    block, rng = Float8EngineLane(config), random.Random(seed)
    interval, early = config.interval, BlockRam.latency_of(config.cells)
    middle = 2.0 ** (config.y.unit - config.a.unit - config.b.unit + 8)
    scales = [np.float32(middle * 2.0 ** -rng.uniform(0, 50)) for _ in range(config.table_words - 2)]
    scales += [np.float32(1e-45), np.float32(3e38)]
    constants = [Float8Requantization.from_scales(scale, config.y) for scale in scales]
    lines = [
        {
            "column_write": 1,
            "column_address": address,
            "column_value": {"multiplier": each.multiplier[0], "exponent": exponents_of(each, config.array)[0]},
        }
        for address, each in enumerate(constants)
    ]
    steps, sums, wanted = {}, {}, {}
    at = len(lines) + 4 + early
    for row in range(rows):
        base = row * interval % config.table_words
        for step in range(interval):
            steps.setdefault(at, {})["step"] = step
            entry = (base + step) % config.table_words
            steps.setdefault(at - early, {})["entry"] = entry
            total = corner_of(rng, rng.randrange(2, config.array.accumulator_bits))
            bits = config.array.accumulator_bits  # above them flags, none set
            sums[at] = [(total if i == step else corner_of(rng, 30)) & ((1 << bits) - 1) for i in range(interval)]
            wanted[at + block.latency] = golden(config, total, scales[entry])
            at += 1
        at += rng.choice([0, 0, 3])
    lines += [
        {
            "column_write": 0,
            "step": {"step": 0, "entry": 0} | steps.get(cycle, {}),
            "sums": sums.get(cycle, [0] * interval),
        }
        for cycle in range(len(lines), at + block.latency + 1)
    ]
    shown = trace(block, lines, cells=config.cells if folder else "portable", folder=folder)
    for cycle, y in wanted.items():
        assert shown[cycle]["y"] == y, cycle
    for cycle, step in steps.items():
        if "step" in step:
            assert shown[cycle + interval]["step_next"].step == step["step"]


@pytest.mark.parametrize(("cols", "lanes"), [(1, 1), (4, 4), (4, 2), (5, 1), (17, 1)])
@pytest.mark.parametrize("formats", [(E4M3FN, E4M3FNUZ, E5M2), (E5M2, E5M2, E4M3FN)], ids=lambda each: str(each[0]))
def test_portable(cols, lanes, formats):
    a, b, y = formats
    run(EngineConfig(rows=2, cols=cols, lanes=lanes, max_columns=32, a=a, b=b, y=y), None, seed=cols)


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_of_cells(tmp_path, cells):
    config = EngineConfig(rows=2, cols=4, lanes=2, max_columns=32, cells=cells, a=E4M3FN, b=E5M2, y=E4M3FN)
    run(config, tmp_path)
