"""What the tests of synthesis share: a small layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from systoliq.golden.formats import INT8
from systoliq.golden.layer import MatMulLayer


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    """A small layer's file, and input for it."""
    generator = np.random.default_rng(0)
    layer = MatMulLayer(
        name="small", b=generator.integers(-128, 128, (6, 5)).astype(np.int8), bias=None, a_scale=np.float32(0.02),
        a_zero_point=3, b_scale=np.full(5, 0.01, np.float32), b_zero_point=np.zeros(5, np.int8),
        y_scale=np.float32(0.1), y_zero_point=-4, a_format=INT8, b_format=INT8, y_format=INT8,
    )  # fmt: skip
    np.savez(tmp_path / "layer.npz", **layer.arrays())
    np.savez(tmp_path / "in.npz", a=generator.integers(-128, 128, (9, 6)).astype(np.int8))
    return tmp_path / "layer.npz", tmp_path / "in.npz"
