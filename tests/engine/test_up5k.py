"""The engine for an iCE40 UP5K, which has few registers: bit-exact, and in as many cycles as the model says."""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine
from operations import check, random_operation

from systoliq.hw.engine import EngineConfig

SMALL = EngineConfig(
    rows=1, cols=1, depth=8, lanes=1, a_words=64, b_words=256, max_columns=64, max_rows=64, cells="ice40"
)
CONFIGS = {
    "up5k": SMALL,
    "more rows": SMALL.replace(rows=3, depth=2),
    "more columns": SMALL.replace(rows=2, cols=4, depth=2, lanes=2),
    "one row": SMALL.replace(cols=6, depth=1, lanes=2),
    "weights": SMALL.replace(rows=2, cols=3, depth=1, dataflow="weight-stationary"),
}


@pytest.mark.slow  # test_configurations.py runs engines of other cells, tests/hw/mac tests iCE40's cells
@pytest.mark.parametrize("name", CONFIGS)
def test_random_operations(name):
    rng = np.random.default_rng(24)
    check(engine(CONFIGS[name]), [random_operation(rng, 20) for _ in range(12)], seed=24)
