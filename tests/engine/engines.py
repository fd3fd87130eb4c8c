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


@functools.cache
def engine(config: EngineConfig = SMALL, simulator: str = "verilator") -> Engine:
    return Engine(config, simulator=simulator)  # type: ignore[arg-type]
