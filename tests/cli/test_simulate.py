"""`systoliq simulate`: input through the Verilog, compared with stored and outside results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from systoliq.golden import MatMulLayer

from ..saturating import saturate_sessions


def run(call, tmp_path: Path, *arguments: object, status: int = 0) -> tuple[np.ndarray, dict]:
    result = call("simulate", *arguments, "--output", tmp_path / "y.npz", "--report", tmp_path / "r.json")
    assert result.exit_code == status, (result.output, result.exception)
    return np.load(tmp_path / "y.npz")["y"], json.loads((tmp_path / "r.json").read_text())


@pytest.mark.parametrize(("expected", "options"), [("y_qgemm_bias", []), ("y_qlinearmatmul", ["--no-bias"])])
def test_real_weights_on_real_rows_give_what_onnxruntime_gave(expected, options, call, simulator, shared, tmp_path):
    file = shared / "data" / "resnet8_fc.npz"
    arguments = ["resnet8-fc", "--weights", file, "--input", file, "--simulator", simulator, *options]
    y, report = run(call, tmp_path, *arguments)
    assert y.dtype == np.int8
    np.testing.assert_array_equal(y, np.load(file)[expected])
    assert (report["outputs"], report["mismatches"], report["float32_mismatches"]) == (2560, 0, 0)
    assert report["macs"] == 256 * 64 * 10
    assert report["cycles"] == report["model_cycles"]
    assert report["utilization"] == pytest.approx(report["macs"] / (10 * report["cycles"]))
    assert report["simulator"] == simulator
    assert report["seconds"] > 0


@pytest.mark.simulator
def test_a_layer_file_with_stalls_and_waves(call, arrays, save, tmp_path):
    layer = MatMulLayer(**arrays)
    a = np.random.default_rng(0).integers(0, 256, (7, 9)).astype(np.uint8)
    arguments = ["--simulator", "icarus", "--rows", 2, "--cols", 2, "--stalls", 0.4, "--waves", tmp_path / "run.vcd"]
    y, report = run(call, tmp_path, save("layer.npz", **arrays), "--input", save("in.npz", a=a), *arguments)
    np.testing.assert_array_equal(y, layer.golden(a))
    assert report["cycles"] > report["model_cycles"]
    assert (tmp_path / "run.vcd").read_text().startswith("$date")


@pytest.mark.simulator
def test_the_bare_array_gives_the_integer_product(call, save, tmp_path):
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 32, (5, 11)).astype(np.uint8), generator.integers(-128, 128, (11, 7)).astype(np.int8)
    arguments = ["--simulator", "icarus", "--rows", 3, "--cols", 2, "--depth", 4, "--a-bits", 5, "--a-unsigned"]
    y, report = run(call, tmp_path, "array", "--input", save("in.npz", a=a, b=b), *arguments)
    assert y.dtype == np.int32
    np.testing.assert_array_equal(y, a.astype(np.int32) @ b.astype(np.int32))
    assert (report["outputs"], report["mismatches"]) == (35, 0)
    assert report["cycles"] == report["model_cycles"]


@pytest.mark.simulator
def test_an_inexact_requantizer_is_reported(call, save, tmp_path):
    a = np.random.default_rng(0).integers(-128, 128, (20, 64)).astype(np.int8)
    arguments = ["--simulator", "icarus", "--requantizer", "nearest", "--multiplier-bits", 4]
    _, report = run(call, tmp_path, "resnet8-fc", "--input", save("in.npz", a=a), *arguments)
    assert report["mismatches"] == 0  # the hardware does what its own arithmetic says
    assert report["float32_mismatches"] > 0


@pytest.mark.simulator
def test_a_mismatch_is_reported_and_is_exit_status_1(call, save, tmp_path, monkeypatch):
    from systoliq.design import sources
    from systoliq.sim.cosimulation import dense

    wrong, _ = sources.resnet8_fc_layer()
    wrong = sources.LayerDesign(wrong.replace(y_zero_point=1), sources.LayerOptions(), origin="")
    text = dense.dense_verilog(wrong.dense)
    monkeypatch.setattr(dense, "dense_verilog", lambda dense: text)
    path = save("in.npz", a=np.zeros((1, 64), np.int8))
    result = call("simulate", "resnet8-fc", "--input", path, "--simulator", "icarus", "--report", tmp_path / "r.json")
    assert result.exit_code == 1
    assert "mismatch: row 0, column 0: expected" in result.stderr
    assert 0 < json.loads((tmp_path / "r.json").read_text())["mismatches"] <= 10


@pytest.mark.simulator
def test_real_numbers_from_a_plain_file_and_the_next_layer(call, arrays, save, tmp_path):
    """Quantized as onnxruntime's QuantizeLinear does, and compared with its QGemm; the output goes on as it is."""
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnx import parser

    arrays |= {"b": (arrays["b"] // 2).astype(np.int8), "b_zero_point": np.int8(0), "y_zero_point": np.uint8(120)}
    layer = MatMulLayer.load(save("layer.npz", **arrays))
    real = (np.random.default_rng(1).normal(0, 2, (4, layer.k)) / 2).astype(np.float32)
    real[0, :6] = np.float32(0.02) * np.array([0.5, 1.5, 2.5, -0.5, 1e9, -np.inf], np.float32)  # halves and saturation
    np.save(tmp_path / "x.npy", real)
    graph = """<ir_version: 8, opset_import: ["": 13]>
        g (float[M, K] x) => (uint8[M, K] a) <float s = {0.02}, uint8 z = {100}> { a = QuantizeLinear(x, s, z) }"""
    session = onnxruntime.InferenceSession(parser.parse_model(graph).SerializeToString())
    (a,) = session.run(None, {"x": real})
    np.testing.assert_array_equal(layer.quantize(real), a)
    options = ["--input", tmp_path / "x.npy", "--quantize", "--compare", "onnxruntime"]
    y, report = run(call, tmp_path, tmp_path / "layer.npz", *options)
    np.testing.assert_array_equal(y, layer.golden(a))
    assert report["onnxruntime_mismatches"] == 0

    arrays |= {"b": arrays["b"][:5, :3], "b_scale": np.float32(0.01), "bias": arrays["bias"][:3]}
    following = MatMulLayer.load(save("following.npz", **arrays))
    (tmp_path / "y.npz").rename(tmp_path / "between.npz")
    z, _ = run(call, tmp_path, tmp_path / "following.npz", "--input", tmp_path / "between.npz")
    np.testing.assert_array_equal(z, following.golden(y))


@pytest.mark.simulator
def test_what_onnxruntime_answers_otherwise_is_reported(call, save, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    from systoliq.onnx import judge

    right = judge.onnxruntime_output
    other = np.eye(2, 10, dtype=np.int8)
    monkeypatch.setattr(judge, "onnxruntime_output", lambda *operands, **options: right(*operands, **options) + other)
    path = save("in.npz", a=np.ones((2, 64), np.int8))
    result = call("simulate", "resnet8-fc", "--input", path, "--compare", "onnxruntime")
    assert result.exit_code == 1
    assert "mismatch: y[0, 0]: onnxruntime gave" in result.stderr
    assert "mismatch: y[1, 1]: onnxruntime gave" in result.stderr


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("kind", ["QLinearMatMul", "QGemm", "MatMulInteger", "dynamic"])
def test_onnxruntimes_saturating_kernels_are_no_mismatch(kind, call, save, tmp_path, monkeypatch):
    """The exit status is 3; where the hardware's own answer is wrong, 1 all the same."""
    pytest.importorskip("onnxruntime")
    from systoliq.onnx import judge

    generator = np.random.default_rng(3)
    b, a = generator.integers(-128, 128, (16, 5)).astype(np.int8), generator.integers(0, 256, (3, 16)).astype(np.uint8)
    b[:4], a[:, :4] = 127, 255
    layer = {"b": b, "b_zero_point": np.int8(0), "a_zero_point": np.uint8(3)}
    scales = {"a_scale": np.float32(0.02), "b_scale": np.float32(0.01), "y_scale": np.float32(1)}
    inputs = {"a": a}
    if kind in ("QLinearMatMul", "QGemm"):
        layer |= scales | {"y_zero_point": np.uint8(9)}
    if kind == "QGemm":
        layer |= {"bias": np.arange(5, dtype=np.int32), "b_scale": np.full(5, 0.01, np.float32)}
    if kind == "dynamic":
        del layer["a_zero_point"]
        layer["a_format"], inputs["a_zero_point"] = np.array("uint8"), np.array([0, 3, 3], np.uint8)
    arguments = ["simulate", save("layer.npz", **layer), "--input", save("in.npz", **inputs), "--simulator", "icarus"]
    arguments += ["--compare", "onnxruntime", "--report", tmp_path / "r.json"]

    saturate_sessions(monkeypatch)
    result = call(*arguments)
    assert result.exit_code == 3, (result.output, result.exception)
    assert "note: onnxruntime's own result is not exact on this processor" in result.stderr
    assert "mismatch: " not in result.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["mismatches"], report["onnxruntime_mismatches"]) == (0, 0)
    assert report["onnxruntime_saturated"] > 0

    right = judge.onnxruntime_output
    other = np.eye(3, 5, dtype=np.int8)
    monkeypatch.setattr(judge, "onnxruntime_output", lambda *operands, **options: right(*operands, **options) + other)
    result = call(*arguments)
    assert result.exit_code == 1
    assert "mismatch: y[0, 0]: onnxruntime gave" in result.stderr
    assert "note: " not in result.stderr
