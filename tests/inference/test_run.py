"""`systoliq run`: files in, files out, a line of verdict, and what it refuses."""

from __future__ import annotations

import json
import signal
import time

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.sim.cache import cache_directory
from systoliq.sim.engine import Engine

from ..cli.running import marked, start
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


@pytest.mark.slow  # tests/cli/test_in_the_wild.py has signals
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("number", "simulator", "word"),
    [
        (signal.SIGINT, "icarus", "vvp"),
        pytest.param(signal.SIGTERM, "verilator", "+verilator+seed", marks=pytest.mark.slow),
    ],
    ids=["SIGINT", "SIGTERM"],
)
def test_a_signal_leaves_no_simulator(number, simulator, word, tmp_path):
    """In the middle of a model on the DMA engine, most cycles of whose memory are pauses."""
    net = Builder([1, 3, 24, 24])
    net.conv(3, 8, (3, 3))
    net.relu()
    net.conv(8, 16, (3, 3))
    path = quantized(tmp_path, net)
    np.savez(tmp_path / "x.npz", x=images(net.shape, 1, 3))
    command = ["run", path, "--input", "x.npz", *ENGINE, "--bus", "64", "--stalls", "0.9", "--output", "y.npz"]
    command += ["--simulator", simulator]
    with start(*command, folder=tmp_path, env={"SYSTOLIQ_CACHE": str(cache_directory())}) as process:
        deadline = time.monotonic() + 300
        while not any(word in line for line in marked(tmp_path)):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 128 + number, error
    assert "Traceback" not in error
    for _ in range(100):
        if not marked(tmp_path):
            break
        time.sleep(0.1)
    assert not marked(tmp_path)
    assert not (tmp_path / "y.npz").exists()


@pytest.mark.simulator
def test_the_engine_that_feeds_itself(model, tmp_path):
    """The engine from a file; the table and the report have beats and bytes of lists."""
    (tmp_path / "engine.json").write_text('{"rows": 4, "cols": 4, "depth": 2, "lanes": 2, "bus_bits": 64}')
    options = ["--input", tmp_path / "x.npz", "--engine", tmp_path / "engine.json", "--report", tmp_path / "r.json"]
    result = CliRunner().invoke(cli, ["run", str(model), *map(str, options)])
    assert result.exit_code == 0, result.output
    assert "bytes of lists" in result.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["engine"]["bus_bits"] == 64
    assert all(set(step["beats"]) == {"a", "b", "list", "y"} for step in report["steps"])
    assert "PASS: 69 outputs of products and 5 of the model compared" in result.output
