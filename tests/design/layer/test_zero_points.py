"""Layers whose zero points come with A, as designs: package, testbench, sidecar, model, operands of all forms."""

from __future__ import annotations

import json
import re
import subprocess

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions
from systoliq.errors import InputError
from systoliq.golden import UINT8, IntFormat, MatMulLayer, matmul_integer
from systoliq.golden.dynamic import dynamic_quantize_linear
from systoliq.sim.tools import require

from ...cli.refused import assert_refused
from ...support.testbenches import one_round

RNG = np.random.default_rng(6)
B = RNG.integers(-100, 101, (6, 4)).astype(np.int8)
A = RNG.integers(0, 256, (9, 6)).astype(np.uint8)
POINTS = RNG.integers(0, 256, 9).astype(np.uint8)
X = RNG.normal(0.5, 1, (9, 6)).astype(np.float32)
B_ZERO_POINT = np.array([3, -128, 127, 0], np.int8)
FIELDS = {"b": B, "b_zero_point": B_ZERO_POINT, "a_format": UINT8}
B_SCALE = np.float32([1, 2, 3, 4])


def save(path, **fields):
    np.savez(path, **{**FIELDS, "a_format": "uint8", **fields})
    return path


@pytest.fixture
def package(call, tmp_path):
    result = call("emit", save(tmp_path / "sums.npz", b_scale=B_SCALE), "--out", tmp_path / "out", "--rows", 2)
    assert result.exit_code == 0, result.output
    return tmp_path / "out"


def verdict_of(folder):
    sources = [folder / "sums.v", folder / "sums_tb.v"]
    subprocess.run(["iverilog", "-g2005", "-o", folder.parent / "t", *sources], check=True)
    return subprocess.run(["vvp", folder.parent / "t"], check=True, capture_output=True, text=True).stdout


@pytest.mark.simulator
@pytest.mark.usefixtures("short_testbenches")
def test_the_testbench_passes_and_can_fail(package):
    assert verdict_of(one_round(package)).startswith("PASS")
    bench = package / "sums_tb.v"
    text = bench.read_text()
    bench.write_text(text.replace(".s_axis_a_tuser(s_axis_a_tuser)", ".s_axis_a_tuser(s_axis_a_tuser ^ 16'h0100)"))
    assert verdict_of(package).startswith("FAIL: row 2 column 0: expected")  # the first with another in its group


@pytest.mark.simulator
def test_the_package(package):
    sidecar = json.loads((package / "sums.json").read_text())
    ports = {port["name"]: port for port in sidecar["ports"]}
    assert (ports["s_axis_a_tuser"]["direction"], ports["s_axis_a_tuser"]["width"]) == ("input", 16)
    assert sidecar["packing"]["a_zero_point"]["elements_per_beat"] == 2
    assert (sidecar["formats"]["a"]["name"], sidecar["packing"]["a"]["element_bits"]) == ("uint8", 8)
    assert sidecar["parameters"]["multiplier_operands"] == ["int9", "int8"]
    facts = sidecar["quantization"]
    assert (facts["a"], facts["b"]["scale"]) == ({"scale": None, "zero_point": None}, B_SCALE.tolist())
    assert facts["meaning"].endswith("it stands for y * a_scale * b.scale, where a_scale comes at run time")
    assert "a_zero_point comes with A" in sidecar["computes"]
    assert sidecar["host"]["after"][1] == {"operator": "Mul", "a_scale": True, "constant": B_SCALE.tolist()}
    vectors = np.load(package / "sums_vectors.npz")
    right = matmul_integer(vectors["a"], B, vectors["a_zero_point"], B_ZERO_POINT)
    np.testing.assert_array_equal(vectors["y"], right, strict=True)
    low, high = MatMulLayer(**FIELDS).accumulator_range()
    assert {low[0], high[0]} <= set(vectors["y"][:, 0].tolist())
    assert MatMulLayer.load(package / "sums_layer.npz").takes_zero_points
    (command,) = re.findall(r"finds nothing: verilator (.*)", (package / "sums.vlt").read_text())
    tool = require("verilator")
    lint = subprocess.run([tool.path, *command.split()], cwd=package, env=tool.environment, capture_output=True)
    assert (lint.returncode, lint.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.simulator
def test_simulate_and_the_model():
    design = LayerDesign(MatMulLayer(**FIELDS), LayerOptions(rows=2))
    right = matmul_integer(A, B, POINTS, B_ZERO_POINT)
    run = design.simulate(A, a_zero_point=POINTS, simulator="icarus").check()
    np.testing.assert_array_equal(run.y, right, strict=True)
    np.testing.assert_array_equal(design.model(A, POINTS), right, strict=True)
    assert (list(run.outputs), design.certified, design.notes) == (["y"], False, [])


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("b_scale", [None, B_SCALE], ids=["sums", "real"])
def test_real_numbers(b_scale, call, tmp_path):
    """Without a model, a layer with its weights' scale gives sums * f32(a_scale * b_scale), one without gives sums."""
    layer = save(tmp_path / "layer.npz", **({} if b_scale is None else {"b_scale": b_scale}))
    np.save(tmp_path / "x.npy", X.astype(np.float64))
    result = call(
        "simulate", layer, "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npz", "--simulator", "icarus",
        "--compare", "onnxruntime",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    made, quantized = np.load(tmp_path / "y.npz"), dynamic_quantize_linear(X)
    sums = matmul_integer(quantized.a, B, quantized.zero_point, B_ZERO_POINT)
    np.testing.assert_array_equal(made["sums"], sums, strict=True)
    right = sums if b_scale is None else sums.astype(np.float32) * (quantized.scale * b_scale)
    np.testing.assert_array_equal(made["y"], right, strict=True)


def test_what_cannot_be_is_refused():
    design = LayerDesign(MatMulLayer(**FIELDS))
    with pytest.raises(InputError, match="a must be given, with a_zero_point where the layer has none"):
        design.simulate()
    with pytest.raises(InputError, match="a_zero_point cannot be given with real numbers in a: it is computed from"):
        design.simulate(X, a_zero_point=POINTS)
    with pytest.raises(ValueError, match="a_zero_point must be given with a"):
        design.simulate(A)
    with pytest.raises(ValueError, match=r"a_zero_point must be a scalar or \[9\] or \[9, 1\] .* not of shape \[8\]"):
        design.simulate(A, a_zero_point=POINTS[:8])
    signed = LayerDesign(MatMulLayer(**FIELDS | {"a_format": IntFormat.parse("int8")}))
    with pytest.raises(InputError, match="a must hold integers, with a_zero_point: nothing says how they are made"):
        signed.simulate(X)
    own = LayerDesign(MatMulLayer(b=B, a_zero_point=np.uint8(7), b_zero_point=B_ZERO_POINT))
    with pytest.raises(ValueError, match="a_zero_point must not be given: the layer's own is 7"):
        own.simulate(A, a_zero_point=POINTS)
    wide = MatMulLayer(**FIELDS | {"a_format": IntFormat.parse("uint16")})
    with pytest.raises(ValueError, match="a must have at most 15 bits where its zero point comes at run time, not 16"):
        LayerDesign(wide)


def test_bad_files_are_refused_in_a_line(call, tmp_path):
    emit = ("--out", tmp_path / "out")
    both = save(tmp_path / "both.npz", y_scale=np.float32(1))
    assert_refused(call("emit", both, *emit), "both.npz: layer file must have the key 'a_scale'")
    assert_refused(call("emit", save(tmp_path / "a.npz", a_format="float9"), *emit), "a.npz: format name must be like")
    np.savez(tmp_path / "none.npz", b=B, b_zero_point=B_ZERO_POINT)
    assert_refused(call("emit", tmp_path / "none.npz", *emit), "none.npz: layer file must have the key 'a_zero_point'")
