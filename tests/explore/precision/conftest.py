from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.digits_cnn import INT8_MODEL, digits_cnn
from systoliq.explore import cache


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """What commands of a test keep."""
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path / "cache")


@pytest.fixture
def net():
    return digits_cnn()[0]


@pytest.fixture
def images():
    """Images as digits-cnn takes them, and the classes that it gives them."""
    x = np.random.default_rng(3).integers(0, 17, (30, 1, 8, 8)).astype(np.float32)
    network, _ = digits_cnn()
    y = network.golden({"image": x})[network.outputs[0].name]
    return x, y.argmax(axis=1)


@pytest.fixture
def model():
    return str(INT8_MODEL)
