"""`systoliq demo`: every output of every test image is what golden and onnxruntime say, of layer and network."""

from __future__ import annotations

import json

import pytest

from systoliq.demo.demo import ACCURACY


@pytest.mark.slow
@pytest.mark.simulator
def test_the_demo(call, tmp_path):
    result = call("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "PASS: RTL = golden = onnxruntime on every output of every test image" in result.output
    report = json.loads((tmp_path / "demo" / "report.json").read_text())
    assert min(report["accuracy"]["float"], report["accuracy"]["rtl"]) > ACCURACY
    for comparison in report["comparisons"]:
        assert comparison["outputs"] == 10 * report["images"]
        assert comparison["golden_mismatches"] == comparison["onnxruntime_mismatches"] == 0
    network = report["network"]
    assert min(network["accuracy"].values()) > ACCURACY
    assert (network["scores"], network["golden_mismatches"], network["onnxruntime_mismatches"]) == (4500, 0, 0)
    assert network["run"]["images"] == 450
    assert all(each["elements"] and not each["mismatches"] for each in network["run"]["tensors"].values())
    assert len(network["run"]["tensors"]) == 3
    assert (tmp_path / "demo" / "digits_cnn" / "digits_cnn_tb.v").is_file()
    assert (tmp_path / "demo" / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "demo" / "digits" / "digits_tb.v").is_file()
