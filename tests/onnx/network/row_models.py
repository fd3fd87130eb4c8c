"""Rows for softmax and layer normalization."""

from __future__ import annotations

import numpy as np

from .operator_models import codes


def rows(rng, kind: str, count: int, length: int) -> np.ndarray:
    """Rows of any integers, of neighbouring ones, and of few that differ, for which ties are common."""
    values = codes(kind)
    least = int(values.min())
    wide = rng.choice(values, (count, length)).astype(int)
    near = rng.integers(0, 256, (count, 1)) + rng.integers(-12, 13, (count, length)) + least
    few = np.where(rng.integers(0, 3, (count, length)) > 0, wide[:, :1], wide)
    return np.clip(np.concatenate([wide, near, few]), least, values.max()).astype(kind)


def drawn(rng, kind: str, draw: int) -> dict[str, np.generic]:
    """Scales and zero points, as quantizers choose them and at random."""
    point = np.int8(-128) if kind == "int8" else np.uint8(0)
    usual = draw % 2 == 0
    return {
        "as": np.float32(10.0 ** (rng.uniform(-2.5, -0.5) if usual else rng.uniform(-4, 1))),
        "az": rng.choice(codes(kind)),
        "ys": np.float32(1 / 256 if usual else 10.0 ** rng.uniform(-4, 0.2)),
        "yz": point if draw % 3 else rng.choice(codes(kind)),
    }


def normal_constants(rng, kind: str, channels: int) -> dict[str, np.generic]:
    gain, bias = (rng.normal(mean, 0.2, channels).astype(np.float32) for mean in (1, 0))
    found = {"as": np.float32(10.0 ** rng.uniform(-2.5, -0.3)), "az": rng.choice(codes(kind)), "g": gain, "b": bias}
    return found | {"ys": np.float32(rng.uniform(0.01, 0.05)), "yz": rng.choice(codes(kind))}
