"""Tests of `verify`: a package that was forged in one place is verified as a whole, dozens of times."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.package import write_package
from systoliq.verify import columns, float32, integer_layer, reference, stages
from systoliq.verify.order import Order

from ..hw.network import small_networks as small


@pytest.fixture(scope="session", autouse=True)
def kept_steps() -> Iterator[None]:
    """Keep the steps of the float32 formula, a quarter of the time that `verify` takes, by all that they depend on."""
    kept = functools.lru_cache(4096)(float32.steps_of)
    with pytest.MonkeyPatch.context() as patch:
        for module in (columns, reference):
            patch.setattr(module, "steps_of", lambda *given: list(kept(*given)))
        yield


@pytest.fixture
def without_order() -> Iterator[None]:
    """Verdicts on stages and streams alone: test_order.py checks the order of elements, half of the time."""
    with mock.patch.object(Order, "grounds", return_value=()):
        yield


@pytest.fixture
def at_steps() -> Iterator[None]:
    """Verdicts on columns at their steps alone: test_verify.py tries all sums, which is most of the time."""
    defaults = integer_layer.IntegerLayer.__init__.__kwdefaults__
    with mock.patch.dict(defaults, most_tried=0), mock.patch.object(stages, "_MOST_TRIED", 0):
        yield


@pytest.fixture(scope="session")
def residual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package `net` of a small network with a shortcut, in plain logic. Forgers copy it first."""
    folder = tmp_path_factory.mktemp("residual") / "net"
    write_package(NetworkDesign(small.residual(), NetworkOptions(cells="portable"), name="net"), folder)
    return folder
