"""Y on its stream: results of every width side by side, for any number of lanes, in the cycles of the model.

The bench looks at every frame: all beats but the last must be full.
"""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine
from operations import values

from systoliq.golden import matmul_integer, qlinear_matmul
from systoliq.hw.engine import EngineConfig

from ..support.simulators import icarus_first

SHAPES = [(1, 3, 1), (5, 2, 7), (3, 9, 8), (7, 4, 10), (4, 5, 13), (2, 3, 16), (9, 1, 3)]


@pytest.mark.slow  # tests/hw/engine/test_y_packer.py
@pytest.mark.parametrize("stall", [0, 0.5])
@pytest.mark.parametrize("lanes", [1, 2, 3, 8])
@icarus_first
def test_every_beat_is_full(simulator, lanes, stall):
    cols = max(lanes, 4) if lanes != 3 else 6
    hardware = engine(EngineConfig(rows=2, cols=cols, lanes=lanes, a_words=16, b_words=64, max_columns=16), simulator)
    rng = np.random.default_rng(lanes)
    plans, wanted = [], []
    for m, k, n in SHAPES:
        a, b = values(rng, np.uint8, (m, k)), values(rng, np.int8, (k, n))
        zero_point = values(rng, np.uint8, ())
        plans.append(hardware.plan_matmul_integer(a, b, zero_point, None))
        wanted.append(matmul_integer(a, b, zero_point, None))
        scales = np.float32(0.02), rng.uniform(0.01, 0.03, n).astype(np.float32), np.float32(0.3)
        inputs = (a, scales[0], zero_point, b, scales[1], np.zeros(n, np.int8), scales[2], np.uint8(120))
        plans.append(hardware.plan_qlinear_matmul(*inputs))
        wanted.append(qlinear_matmul(*inputs))
    results = hardware.run(plans, stalls=(0, 0, stall), seed=lanes)
    for result, expected in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(result.y, expected)
        for report in result.reports:
            assert stall or report.cycles == report.model_cycles
