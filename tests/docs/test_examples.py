"""Each example runs as a user runs it, and says that the hardware was right."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from systoliq.sim.tools import find, missing_text

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "layer_from_arrays": "1000 outputs, 0 mismatches",
    "layer_from_onnx": "0 of 400 outputs differ from onnxruntime",
    "own_bench": "passed: own_bench.rows_come_back",
    "larger_design": "passed: 1 of 1 tests of the larger design",
    "engine": "a batch: 0 of 105 outputs differ",
    "train_digits_cnn": "digits_cnn.onnx: 6177 bytes, accuracy 0.9",
    "train_digits_vit": "digits_vit.onnx: 37589 bytes, accuracy 0.9",
    "mlperf_tiny": "mobilenet.onnx: 210850 weights, input 3 x 96 x 96",
    "explore": "smallest with an accuracy of 0.96: 1 x 2 x 1",
}
NEEDED = {
    "engine": ("verilator", "c++", "libpython"),
    "explore": (),
    "mlperf_tiny": (),
    "train_digits_cnn": (),
    "train_digits_vit": (),
}  # the others: Icarus
IN_PROCESS = (
    "layer_from_arrays",
    "layer_from_onnx",
    "engine",
)  # what needs no process of its own, where everything is imported already
LONG = ("train_digits_vit",)
SECONDS = 300  # the longest takes a minute on an idle machine, with an empty cache


def test_all_examples_are_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.sampled(99)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.simulator, *([pytest.mark.slow] if name in LONG else [])]) for name in SAID],
)
def test_example(name, tmp_path, monkeypatch, capfd):
    for tool in NEEDED.get(name, ("icarus", "libpython")):
        if not (found := find(tool)).found:
            pytest.skip(missing_text(found))
    path = str(EXAMPLES / f"{name}.py")
    if name in IN_PROCESS:
        monkeypatch.chdir(tmp_path)
        with mock.patch.object(sys, "argv", [path]):
            runpy.run_path(path, run_name="__main__")
        said = capfd.readouterr().out
    else:
        done = subprocess.run(
            [sys.executable, "-W", "error::DeprecationWarning:__main__", path],
            cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = done.stdout
    assert SAID[name] in said
    assert f"examples/{name}.py" in (EXAMPLES / f"{name}.py").read_text(), "says how to run it"
