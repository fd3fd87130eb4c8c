"""Shapes of jobs that an engine refuses, and the errors they are."""

from __future__ import annotations

from collections.abc import Iterator

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import LARGEST

__all__ = ["wrong_shapes"]


def wrong_shapes(config: EngineConfig) -> Iterator[tuple[str, dict[str, int]]]:
    """Errors by name, and which of M, K and N are wrong: each just so, and by each higher bit alone.

    An operand that does not fit its buffer is not among them: that is seen when its words come.
    """
    for name in "mkn":
        yield "ILLEGAL_SHAPE", {name: 0}
    for n in _just_too_many(config.max_columns):
        yield "TOO_MANY_COLUMNS", {"n": n}
    for m in _just_too_many(config.max_rows) if not config.float8 else ():
        yield "TOO_MANY_ROWS", {"m": m}
    k = config.a_words * config.depth + 1
    if config.dataflow != "weight-stationary" and k <= LARGEST and config.cols < config.max_columns:
        yield "A_TOO_LARGE", {"k": k, "n": config.cols + 1}


def _just_too_many(most: int) -> list[int]:
    """One more than `most`, and numbers that exceed it by one higher bit alone."""
    return [n for n in sorted({most + 1, *(1 << bit for bit in range(LARGEST.bit_length()))}) if most < n <= LARGEST]
