from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from systoliq.build.explore.subjects.layer import LayerSubject
from systoliq.golden.layer import MatMulLayer

sys.path.insert(0, str(Path(__file__).parent))  # explore_fakes, for worker processes too: they are given sys.path


@pytest.fixture
def layer() -> MatMulLayer:
    from explore_fakes import small_layer  # found by the path set above

    return small_layer()


@pytest.fixture
def subject(layer: MatMulLayer) -> LayerSubject:
    inputs = np.random.default_rng(4).uniform(-6, 6, (60, layer.k)).astype(np.float32)
    weights = layer.centered_b * layer.b_scale.astype(np.float64)
    real = inputs @ weights + layer.bias * float(layer.a_scale) * layer.b_scale
    return LayerSubject(source="small.npz", origin="the tests", layer=layer, inputs=inputs, labels=real.argmax(axis=1))
