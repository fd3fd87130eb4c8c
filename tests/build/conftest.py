"""What the tests of the command line share: one way to call it, and layer files to give it."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from systoliq.build.cli.main import cli


@pytest.fixture(autouse=True)
def _unused_hardware() -> Iterator[None]:
    """A command that ends in an error leaves hardware that nobody elaborated, of which Amaranth warns."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture
def call() -> Callable[..., Result]:
    """Call `systoliq` in this process."""

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments])

    return call


@pytest.fixture
def arrays() -> dict[str, Any]:
    """The arrays of a small layer: 9 -> 5, uint8 activations, scales per column, weights with a zero point."""
    generator = np.random.default_rng(3)
    return {
        "b": generator.integers(-128, 128, (9, 5)).astype(np.int8),
        "a_scale": np.float32(0.02),
        "a_zero_point": np.uint8(100),
        "b_scale": generator.uniform(0.001, 0.02, 5).astype(np.float32),
        "b_zero_point": np.array([0, 3, -128, 127, 0], np.int8),
        "y_scale": np.float32(0.5),
        "y_zero_point": np.int8(-7),
        "bias": generator.integers(-5000, 5000, 5).astype(np.int32),
    }


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write an .npz archive."""

    def save(name: str, **content: Any) -> Path:
        path = tmp_path / name
        np.savez(path, **content)
        return path

    return save
