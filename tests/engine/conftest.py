"""What the tests of the engine share: engines, each built once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from systoliq.sim.engine import Engine

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for the modules beside the tests

from engines import SMALL, engine


@pytest.fixture
def small(simulator: str) -> Engine:
    """A small engine under each simulator in turn."""
    return engine(SMALL, simulator)
