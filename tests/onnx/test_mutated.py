"""Mutated models and archives through the commands, in a process of their own: see `mutated`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ..conftest import ROOT

SEED = 16


def hunt(kind: str, numbers: str) -> dict:
    command = [sys.executable, "-W", "ignore", "-m", "tests.onnx.mutated", kind, numbers, str(SEED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("kind", "numbers", "calls"),
    [
        ("models", "60", 60),
        ("archives", "40", 80),
        pytest.param("models", "5000", 5_000, marks=pytest.mark.slow),
        pytest.param("archives", "2000", 4_000, marks=pytest.mark.slow),
    ],
)
def test_nothing_gets_through(kind, numbers, calls):
    found = hunt(kind, numbers)
    assert found["failures"] == []
    assert found["calls"] >= calls
    assert 0 < found["taken"] < found["calls"]
