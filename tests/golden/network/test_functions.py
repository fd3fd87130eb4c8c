"""Functions of float32 at the ends of their ranges; tests/onnx compares them with onnxruntime."""

from __future__ import annotations

import numpy as np

from systoliq.golden.network.functions import sigmoid, tanh


def test_sigmoid_and_tanh_end_at_1():
    """MLAS's rational of the sigmoid is beyond 1 by a last place near its end, and is cut off."""
    x = np.linspace(10, 30, 1_000_001).astype(np.float32)
    assert sigmoid(x).max() == sigmoid(-x).min() + 1 == tanh(x).max() == -tanh(-x).min() == 1
