"""Layers of int32 sums as designs: model, package, simulation; what their sidecar says of scales and of wrapping."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions
from systoliq.errors import InputError
from systoliq.golden import MatMulLayer, matmul_integer
from systoliq.package import describe

from ...cli.refused import assert_refused
from ...support.testbenches import one_round

RNG = np.random.default_rng(8)
B = RNG.integers(-100, 101, (6, 4)).astype(np.int8)
A = RNG.integers(0, 256, (9, 6)).astype(np.uint8)
FIELDS = {"b": B, "a_zero_point": np.uint8(7), "b_zero_point": np.array([3, -128, 127, 0], np.int8)}
SUMS = matmul_integer(A, B, FIELDS["a_zero_point"], FIELDS["b_zero_point"])
SCALES = {"a_scale": np.float32(0.5), "b_scale": np.float32([1, 2, 3, 4])}


def save(path, **fields):
    np.savez(path, **FIELDS | fields)
    return path


@pytest.mark.simulator
def test_simulate_judged_by_onnxruntime(call, tmp_path):
    np.save(tmp_path / "a.npy", A.reshape(3, 3, 6))  # a batch of rows, as numpy.matmul has it
    result = call(
        "simulate", save(tmp_path / "sums.npz"), "--input", tmp_path / "a.npy", "--simulator", "icarus", "--rows", 2,
        "--stalls", 0.2, "--compare", "onnxruntime", "--output", tmp_path / "y.npz", "--report", tmp_path / "r.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], SUMS.reshape(3, 3, 4), strict=True)
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["mismatches"], report["onnxruntime_mismatches"]) == (0, 0)
    assert "float32_mismatches" not in report


@pytest.mark.simulator
def test_real_numbers_by_known_scales(call, tmp_path):
    x = (A.astype(np.float32) - np.float32(7.3)) * np.float32(0.5)
    np.save(tmp_path / "x.npy", x)
    arguments = ("--input", tmp_path / "x.npy", "--quantize", "--simulator", "icarus", "--output", tmp_path / "y.npz")
    result = call("simulate", save(tmp_path / "sums.npz", **SCALES), *arguments)
    assert result.exit_code == 0, result.output
    made, a = np.load(tmp_path / "y.npz"), np.clip(np.rint(x / np.float32(0.5)) + 7, 0, 255).astype(np.uint8)
    sums = matmul_integer(a, B, FIELDS["a_zero_point"], FIELDS["b_zero_point"])
    np.testing.assert_array_equal(made["sums"], sums, strict=True)
    np.testing.assert_array_equal(made["y"], sums.astype(np.float32) * np.float32([0.5, 1, 1.5, 2]), strict=True)


@pytest.mark.slow
@pytest.mark.simulator
def test_package(call, tmp_path):
    out = tmp_path / "out"
    result = call("emit", save(tmp_path / "sums.npz", **SCALES), "--out", out)
    assert result.exit_code == 0, result.output
    sidecar = json.loads((out / "sums.json").read_text())
    facts = sidecar["quantization"]
    assert (sidecar["formats"]["y"]["name"], sidecar["packing"]["y"]["element_bits"]) == ("int32", 32)
    assert (facts["scale"], facts["sums"], facts["rounding"]) == ([0.5, 1.0, 1.5, 2.0], "exact", "none")
    assert facts["meaning"] == "y is the sum itself; it stands for y * scale"
    assert "MatMulInteger" in sidecar["computes"]
    np.testing.assert_array_equal(MatMulLayer.load(out / "sums_layer.npz").golden(A), SUMS)
    assert "certificate.json" not in sidecar["files"]
    result = call("verify", out)  # which has nothing to derive, as nothing is rounded
    assert result.exit_code == 0, result.output
    assert " files are what systoliq" in result.output
    one_round(out)
    subprocess.run(["iverilog", "-g2005", "-o", tmp_path / "t", out / "sums.v", out / "sums_tb.v"], check=True)
    run = subprocess.run(["vvp", tmp_path / "t"], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("PASS")


def test_model_and_notes():
    design = LayerDesign(MatMulLayer(**FIELDS), LayerOptions(rows=2))
    np.testing.assert_array_equal(design.model(A), SUMS, strict=True)
    assert (design.notes, design.choices, design.certified) == ([], [], False)
    b = np.full((3, 1), -32768, np.int16)
    wide = LayerDesign(MatMulLayer(b=b, a_zero_point=np.int16(0), b_zero_point=np.int16(0)))
    assert wide.notes == ["sums may reach -3221127168 to 3221225472: beyond int32 they wrap, as MatMulInteger's do"]
    assert describe(wide)["quantization"]["sums"] == "modulo 2^32"
    assert wide.model(np.full((1, 3), -32768, np.int16)).tolist() == [[3 * (1 << 30) - (1 << 32)]]


@pytest.mark.parametrize("asked", [{"requantizer": "floor"}, {"multiplier_bits": 8}, {"requantizer": "auto"}])
def test_rounding_cannot_be_asked_for(asked):
    with pytest.raises(InputError, match="requantizer and multiplier_bits cannot be used with int32 sums"):
        LayerDesign(MatMulLayer(**FIELDS), LayerOptions(**asked))


def test_bad_files_are_refused_in_a_line(call, tmp_path):
    emit = ("--out", tmp_path / "out")
    half = save(tmp_path / "half.npz", a_scale=np.float32(1))
    assert_refused(call("emit", half, *emit), "half.npz: layer file must have the key 'b_scale'")
    rows = save(tmp_path / "rows.npz", a_zero_point=np.zeros(9, np.uint8))
    assert_refused(call("emit", rows, *emit), "a_zero_point must be a scalar or have one element, not shape [9]")
    assert_refused(call("explore", save(tmp_path / "sums.npz"), "--out", tmp_path / "e"), "not of int32 sums: explore")
    np.save(tmp_path / "x.npy", np.zeros((2, 6)))
    real = ("--input", tmp_path / "x.npy", "--quantize")
    assert_refused(call("simulate", tmp_path / "sums.npz", *real), "a_scale must be known to quantize real numbers")
