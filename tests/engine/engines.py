"""Engines by configuration and simulator, each built once."""

from __future__ import annotations

import functools

from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine import Engine

SMALL = EngineConfig(rows=4, cols=4, depth=2, lanes=2, a_words=16, b_words=64, max_columns=32, max_rows=16)

RAGGED = EngineConfig(rows=2, cols=6, lanes=3, a_words=32, b_words=128, max_columns=32, max_rows=16)
"""Lanes that are no power of two: the column table has gaps, and the results of a row no fixed place in a beat."""

FLOAT8 = RAGGED.replace(a=E4M3FN, b=E5M2, y=E4M3FN)
"""The same of float8."""

TIGHT = EngineConfig(rows=2, cols=3, lanes=3, a_words=8, b_words=16, max_columns=8, max_rows=4)
LONG_DRAIN = EngineConfig(rows=4, cols=8, lanes=1, a_words=16, b_words=32, max_columns=16, max_rows=8)
STATIONARY = EngineConfig(
    rows=3, cols=4, lanes=2, a_words=16, b_words=8, max_columns=16, max_rows=8, dataflow="weight-stationary"
)


@functools.cache
def engine(config: EngineConfig = SMALL, simulator: str = "verilator") -> Engine:
    return Engine(config, simulator=simulator)  # type: ignore[arg-type]


CONFIGS = {
    "large": EngineConfig(rows=8, cols=8, depth=2, lanes=4, a_words=64, b_words=512, max_columns=128, max_rows=128),
    "odd": EngineConfig(rows=3, cols=6, depth=3, lanes=3, a_words=16, b_words=64, max_columns=32, max_rows=16),
    "weights": EngineConfig(
        rows=4,
        cols=6,
        depth=2,
        lanes=3,
        a_words=64,
        b_words=16,
        max_columns=32,
        max_rows=32,
        dataflow="weight-stationary",
    ),
    "least": EngineConfig(rows=1, cols=4, depth=2, lanes=1, a_words=4, b_words=4, max_columns=4, max_rows=2),
}
