"""Engines by configuration and simulator, each built once."""

from __future__ import annotations

import functools

from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine import Engine

SMALL = EngineConfig(rows=4, cols=4, depth=2, lanes=2, a_words=16, b_words=64, max_columns=32, max_rows=16)


@functools.cache
def engine(config: EngineConfig = SMALL, simulator: str = "verilator") -> Engine:
    return Engine(config, simulator=simulator)  # type: ignore[arg-type]
