from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from systoliq.build.explore.subject import Subject
from systoliq.golden.layer import MatMulLayer

sys.path.insert(0, str(Path(__file__).parent))  # explore_fakes, for worker processes too: they are given sys.path


def small_layer() -> MatMulLayer:
    generator = np.random.default_rng(3)
    return MatMulLayer(
        name="small",
        b=generator.integers(-127, 128, (12, 4)).astype(np.int8),
        a_scale=0.05,
        a_zero_point=np.int8(-3),
        b_scale=np.array([0.011, 0.013, 0.02, 0.0097], np.float32),
        b_zero_point=np.int8(0),
        y_scale=0.17,
        y_zero_point=np.int8(5),
        bias=generator.integers(-500, 500, 4).astype(np.int32),
    )


@pytest.fixture
def layer() -> MatMulLayer:
    return small_layer()


@pytest.fixture
def subject(layer: MatMulLayer) -> Subject:
    inputs = np.random.default_rng(4).uniform(-6, 6, (60, layer.k)).astype(np.float32)
    weights = layer.centered_b * layer.b_scale.astype(np.float64)
    real = inputs @ weights + layer.bias * float(layer.a_scale) * layer.b_scale
    return Subject(source="small.npz", origin="the tests", layer=layer, inputs=inputs, labels=real.argmax(axis=1))
