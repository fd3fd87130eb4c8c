"""`systoliq run`: files in, files out, a line of verdict, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.build.cli.main import cli
from systoliq.sim.engine import Engine

from ..onnx.network.networks import Builder, images, quantized

ENGINE = ("--rows", "4", "--cols", "4", "--depth", "2", "--lanes", "2")


@pytest.fixture
def model(tmp_path):
    net = Builder([1, 3, 6, 6])
    net.conv(3, 4, (3, 3))
    net.relu()
    net.add("Flatten")
    net.gemm(64, 5)
    path = quantized(tmp_path, net)
    np.savez(tmp_path / "x.npz", x=images(net.shape, 1, 3))
    return path


def systoliq_run(model, *options, input_="x.npz"):
    arguments = ["run", str(model), "--input", str(model.parent / input_), *ENGINE, *map(str, options)]
    return CliRunner().invoke(cli, arguments)


@pytest.mark.simulator
def test_files(model, tmp_path):
    out = {name: tmp_path / f"{name}.out" for name in ("output", "tensors", "report")}
    result = systoliq_run(model, *(each for name, path in out.items() for each in (f"--{name}", path)))
    assert result.exit_code == 0, result.output
    assert "2 products on the engine, 2,048 multiply-accumulates" in result.output
    assert "PASS: 69 outputs of products and 5 of the model compared" in result.output
    report = json.loads(out["report"].read_text())
    assert report["passed"]
    assert (report["engine"]["rows"], report["engine"]["depth"]) == (4, 2)
    assert [step["shapes"] for step in report["steps"]] == [[[16, 27, 4]], [[1, 64, 5]]]
    assert report["steps"][0]["bytes"] == {"a": 4 * 14 * 8, "b": 14 * 8, "y": 64}
    with np.load(out["output"]) as outputs, np.load(out["tensors"]) as tensors:
        assert [outputs[name].shape for name in outputs] == [(1, 5)]
        assert set(outputs) <= set(tensors)


@pytest.mark.simulator
def test_a_mismatch_ends_in_1(model, monkeypatch):
    real = Engine.run

    def wrong(self, plans, **options):
        results = real(self, plans, **options)
        results[0].y.reshape(-1)[0] ^= 64
        return results

    monkeypatch.setattr(Engine, "run", wrong)
    result = systoliq_run(model)
    assert result.exit_code == 1
    assert "mismatch: QLinearConv '/conv0': 1 of 64 outputs differ from golden" in result.output
    assert "FAIL: " in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--only", "nobody"), "error: only must name products that the engine takes, not 'nobody'"),
        (("--rows", "0"), "error: rows must be a positive integer, not 0"),
        (("--stalls", "1.5"), "error: stalls must be at least 0 and below 1, not 1.5"),
        (("--a-format", "e5m2"), "No such option"),
        (("--report", "nowhere/r.json"), "error: report: the directory"),
    ],
)
def test_wrong_options(model, options, message):
    result = systoliq_run(model, *options)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output


def test_wrong_inputs(model, tmp_path):
    np.savez(tmp_path / "other.npz", y=np.zeros(3, np.float32))
    result = systoliq_run(model, input_="other.npz")
    assert (result.exit_code, "inputs must hold 'x', and have 'y'" in result.output) == (2, True), result.output
    result = systoliq_run(model, input_="nothing.npz")
    assert (result.exit_code, "there is no such file" in result.output) == (2, True), result.output
