"""Import paths that are gone name the new one, which is there."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

import systoliq.build
import systoliq.hw
import systoliq.sim
from systoliq.moved import announced

NAMES = {
    "systoliq.build.cli": ["cli"],
    "systoliq.build.demo": ["ACCURACY", "DemoResult", "run_demo"],
    "systoliq.build.package": ["npz_bytes"],
    "systoliq.sim.engine": ["Job", "Plan", "Result"],
    "systoliq.sim.runner": ["Failure", "Results", "SimulationError"],
}


def resolve(text: str) -> None:
    """Import what the message of an error names, all of it."""
    new = re.search(r": import (.+) instead", text)[1].split(" or ")
    for name in new:
        module, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            getattr(importlib.import_module(module), last)


@pytest.mark.parametrize("module", announced())
def test_a_module_that_is_gone(module):
    with pytest.raises(ModuleNotFoundError, match=f"^{re.escape(module)} is gone since systoliq 0.2: ") as error:
        importlib.import_module(module)
    resolve(str(error.value))


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in NAMES.items() for name in names])
def test_a_name_that_is_gone(module, name):
    with pytest.raises(ImportError, match=f"^{module}.{name} is gone since systoliq 0.2: ") as error:
        getattr(importlib.import_module(module), name)
    resolve(str(error.value))


@pytest.mark.parametrize(
    ("statement", "new"),
    [
        ("from systoliq.build import certificate", "systoliq.build.design.layer.certificate"),
        ("from systoliq.build.onnx_import.graph import Graph", "systoliq.build.onnx"),
        ("import systoliq.hw.lane", "systoliq.hw.drain_lane"),
        ("from systoliq.sim.engine import Result", "systoliq.sim.engine.OperationResult"),
    ],
)
def test_every_form_of_import(statement, new):
    with pytest.raises(ImportError, match=f"import {new} instead"):
        exec(statement)  # noqa: S102 - statements of this file


def test_what_never_was_is_not_found_as_ever():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'systoliq.build.never'$"):
        importlib.import_module("systoliq.build.never")
    assert not hasattr(systoliq.sim, "never")
    assert not hasattr(importlib.import_module("systoliq.sim.engine"), "never")


def test_as_a_command():
    command = [sys.executable, "-m", "systoliq.build.forms"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "import systoliq.build.benchmarks.requantizers instead" in result.stderr
