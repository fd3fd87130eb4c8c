"""`systoliq simulate engine`: operations of the user's on the engine's Verilog, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.design import EngineDesign
from systoliq.golden import matmul_integer, qlinear_matmul
from systoliq.hw.engine import EngineConfig

SIZE = ["--rows", "2", "--cols", "2", "--simulator", "icarus"]


def integers(shape, dtype, seed=0):
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape).astype(dtype)


INTEGER = {"a": integers((2, 5, 9), np.uint8), "b": integers((9, 7), np.int8), "a_zero_point": np.uint8(7)}
QLINEAR = INTEGER | {
    "a_scale": np.float32(0.02),
    "b_scale": np.linspace(0.001, 0.02, 7, dtype=np.float32),
    "b_zero_point": np.int8(3),
    "y_scale": np.float32(0.5),
    "y_zero_point": np.uint8(100),
}


def simulate(folder, arrays, *arguments):
    np.savez(folder / "in.npz", **arrays)
    return CliRunner().invoke(cli, ["simulate", "engine", "--input", str(folder / "in.npz"), *arguments])


@pytest.mark.simulator
@pytest.mark.parametrize(("arrays", "golden"), [(INTEGER, matmul_integer), (QLINEAR, qlinear_matmul)])
def test_an_operation(tmp_path, arrays, golden):
    files = ["--output", str(tmp_path / "y.npz"), "--report", str(tmp_path / "r.json")]
    result = simulate(tmp_path, arrays | {"other": np.zeros(1)}, *files, *SIZE)
    assert result.exit_code == 0, (result.output, result.exception)
    y, expected = np.load(tmp_path / "y.npz")["y"], golden(**arrays)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(y, expected)
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["outputs"], report["mismatches"], report["macs"]) == (70, 0, 630)
    assert report["cycles"] == report["model_cycles"] == sum(job["cycles"] for job in report["jobs"])
    assert [job["m"] for job in report["jobs"]] == [10]  # both batches
    assert report["utilization"] == pytest.approx(630 / (4 * report["cycles"]))


@pytest.mark.simulator
def test_stalls(tmp_path):
    result = simulate(
        tmp_path, INTEGER, *SIZE, "--stalls", "0.4", "--seed", "3", "--report", str(tmp_path / "r.json")
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["cycles"] > report["model_cycles"]


@pytest.mark.simulator
def test_mismatches_are_reported(monkeypatch):
    right = matmul_integer(**INTEGER)
    wrong = right + (right == right.max())
    monkeypatch.setattr("systoliq.design.engine.design.matmul_integer", lambda **inputs: wrong)
    design = EngineDesign(EngineConfig(rows=2, cols=2, lanes=2))
    run = design.simulate(**INTEGER, simulator="icarus")
    assert not run.passed
    assert run.report["mismatches"] == 1
    assert run.report["first_mismatches"][0].endswith(f"expected {right.max() + 1}, got {right.max()}")


def without(name):
    return {key: value for key, value in QLINEAR.items() if key != name}


@pytest.mark.parametrize(
    ("arrays", "arguments", "text"),
    [
        ({"a": INTEGER["a"]}, (), "must have the key 'b'; it has a"),
        (without("y_zero_point"), (), "must have the key 'y_zero_point' for a QLinearMatMul"),
        (without("a_scale"), (), "must have the key 'a_scale' for a QLinearMatMul"),
        (INTEGER | {"b": np.zeros((8, 7), np.int8)}, (), "must have the same K, not 9 and 8"),
        (INTEGER | {"a": np.zeros((5, 9))}, (), "float64"),
        (QLINEAR | {"y_scale": np.int8(-1)}, (), "y_scale must be float32, float16 or bfloat16, not int8"),
        (INTEGER, ("--waves", "run.vcd"), "waves cannot be used with the source engine"),
        (INTEGER, ("--netlist", "ecp5"), "netlist cannot be used with the source engine"),
        (INTEGER, ("--stalls", "1"), "stalls must be at least 0 and below 1, not 1.0"),
        (INTEGER, ("--a-bits", "5"), "a_bits cannot be used with the source engine"),
    ],
)
def test_what_is_refused(tmp_path, arrays, arguments, text):
    result = simulate(tmp_path, arrays, *arguments)
    assert result.exit_code == 2, result.output
    assert text in result.output
    assert "Traceback" not in result.output
