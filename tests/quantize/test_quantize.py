"""`systoliq quantize`: onnxruntime's own integers, the accuracy of both models, and what is in the way of hardware."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnxruntime import InferenceSession
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from systoliq.design import open_source
from systoliq.design.digits import split_digits
from systoliq.design.digits_cnn import FLOAT_MODEL, INT8_MODEL

from ..cli.refused import assert_refused
from .float_models import CNN, float_model, images


class Images(CalibrationDataReader):
    def __init__(self, x):
        self.batches = iter([{"x": image[None]} for image in x])

    def get_next(self):
        return next(self.batches, None)


@pytest.fixture
def model(tmp_path):
    return float_model(tmp_path / "m.onnx")


@pytest.fixture
def data(save):
    return save("c.npz", x=images())


def onnxruntimes(model: Path, method: str, weights: QuantType) -> onnx.ModelProto:
    """What onnxruntime's quantizer makes of `model` with the settings that docs/onnx.md states."""
    logging.disable(logging.CRITICAL)
    prepared, path = model.with_name("prepared.onnx"), model.with_name("theirs.onnx")
    quant_pre_process(model, prepared, skip_symbolic_shape=True)
    quantize_static(
        prepared, path, Images(images()), quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8,
        weight_type=weights, per_channel=True, calibrate_method=CalibrationMethod[method],
    )  # fmt: skip
    logging.disable(logging.NOTSET)
    return onnx.load(path)


@pytest.mark.parametrize(
    ("options", "method", "weights"),
    [
        ([], "MinMax", QuantType.QInt8),
        (["--calibration", "entropy"], "Entropy", QuantType.QInt8),
        (["--calibration", "percentile"], "Percentile", QuantType.QInt8),
        (["--weight-bits", 4], "MinMax", QuantType.QInt4),
    ],
)
def test_integers_are_those_of_onnxruntime(options, method, weights, call, model, data, tmp_path):
    out = tmp_path / "q.onnx"
    result = call("quantize", model, "--data", data, "--out", out, *options)
    assert result.exit_code == 0, (result.output, result.exception)
    assert "one network of 5 stages" in result.stdout
    ours, theirs = onnx.load(out), onnxruntimes(model, method, weights)
    assert ours.graph == theirs.graph
    zeros = [numpy_helper.to_array(each) for each in ours.graph.initializer if each.name.endswith("u_zero_point")]
    assert [zero.tolist() for zero in zeros] == [[0, 0, 0]]
    assert open_source(str(out)).kind == "network"
    facts = {each.key: each.value for each in ours.metadata_props}
    assert facts["systoliq.calibration"] == f"{method.lower()} of 12 samples of c.npz"


def test_accuracy_is_that_of_onnxruntime(call, model, save, tmp_path):
    x = images(40)
    labels = InferenceSession(str(model)).run(None, {"x": x})[0].argmax(axis=1)
    labels[:10] = (labels[:10] + 1) % 3  # of which the float model is wrong
    result = call("quantize", model, "--data", save("c.npz", inputs=x, labels=labels), "--out", tmp_path / "q.onnx")
    assert result.exit_code == 0, result.output
    classes = InferenceSession(str(tmp_path / "q.onnx")).run(None, {"x": x})[0].argmax(axis=1)
    assert f"float 75.00%, quantized {np.mean(classes == labels):.2%}, of 40 samples" in result.stdout


def test_random_numbers_are_marked(call, model, tmp_path):
    result = call("quantize", model, "--out", tmp_path / "q.onnx")
    assert result.exit_code == 0, result.output
    assert "random numbers: for a first try only" in result.stdout
    assert "note: calibrated with random numbers" in result.stderr
    assert "accuracy" not in result.output
    facts = {each.key: each.value for each in onnx.load(tmp_path / "q.onnx").metadata_props}
    assert "random numbers" in facts["systoliq.calibration"]


def test_a_single_product_is_a_layer(call, save, tmp_path):
    path = float_model(
        tmp_path / "m.onnx", "[fc] y = Gemm<transB = 1>(x, u, d)", ends="(float[N, 4] x) => (float[N, 3] y)"
    )
    data = save("c.npz", x=np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32))
    result = call("quantize", path, "--data", data, "--out", tmp_path / "q.onnx")
    assert result.exit_code == 0, result.output
    assert "one layer" in result.stdout
    assert open_source(str(tmp_path / "q.onnx")).kind == "layer"


def test_alpha_and_beta_and_a_shared_bias(call, save, tmp_path):
    nodes = """s = Gemm<transB = 1, alpha = 0.5>(x, u, d) t = Gemm<transB = 1, beta = 3.0>(x, u, d)
        y = Concat<axis = 1>(s, t)"""
    path = float_model(tmp_path / "m.onnx", nodes, ends="(float[N, 4] x) => (float[N, 6] y)")
    rows = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    result = call("quantize", path, "--data", save("c.npz", x=rows), "--out", tmp_path / "q.onnx")
    assert result.exit_code == 0, result.output
    expected, found = (InferenceSession(each).run(None, {"x": rows})[0] for each in (path, tmp_path / "q.onnx"))
    assert np.abs(found - expected).max() < np.ptp(expected) / 50  # rounding; with a bias of another scale, 1 / 20


def test_weights_beside_the_model_and_open_sizes(call, data, tmp_path):
    path = float_model(tmp_path / "m.onnx", ends="(float[N, 1, H, W] x) => (float[N, 3] y)")
    beside = tmp_path / "m.data"
    onnx.save(onnx.load(path), path, save_as_external_data=True, location=beside.name, size_threshold=0)
    assert beside.exists()
    out = tmp_path / "q.onnx"
    refused = call("quantize", path, "--data", data, "--out", out)
    assert_refused(refused, "the shape of input 'x' must be known except for its batch, not [N, 1, H, W]: give it by")
    result = call("quantize", path, "--data", data, "--out", out, "--shape", "x=1,1,6,6")
    assert result.exit_code == 0, result.output
    beside.unlink()
    assert open_source(str(out)).kind == "network"


IN_THE_WAY = {
    "an operator without hardware": (
        CNN.replace("a = GlobalAveragePool(p)", "[norm] s = LpNormalization<axis = 1>(p) a = GlobalAveragePool(s)"),
        "LpNormalization 'norm'",
    ),
    "an average of windows of nine sizes": (
        CNN.replace(
            "p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>",
            "[pool] p = AveragePool<kernel_shape = [5, 5], pads = [4, 4, 4, 4]>",
        ),
        "node 'pool'",
    ),
}


@pytest.mark.parametrize(("nodes", "text"), IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_float_nodes_in_the_way_are_named(nodes, text, call, data, tmp_path):
    path = float_model(tmp_path / "m.onnx", nodes)
    result = call("quantize", path, "--data", data, "--out", tmp_path / "q.onnx")
    assert result.exit_code == 1, result.output
    lines = result.stderr.splitlines()
    assert lines
    assert all(line.startswith("no hardware: ") for line in lines)
    assert text in lines[0]
    assert (tmp_path / "q.onnx").exists()


WRONG = {
    "no such name": ({"z": images()}, "c.npz: must hold 'x' (or 'inputs'), the input of m.onnx, not z"),
    "shape": ({"x": images()[:, :, :5]}, "x must have the shape [M, 1, 6, 6], not [12, 1, 5, 6]"),
    "integers": ({"x": images().astype(np.uint8)}, "x must hold real numbers (float32), as 'x' of the model takes"),
    "nothing": ({"x": images()[:0]}, "x must hold a positive multiple of 1 samples"),
    "not finite": ({"x": np.full((2, 1, 6, 6), np.nan)}, "x must be finite"),
    "labels": ({"x": images(), "labels": np.zeros(3, int)}, "labels must be one for each of 12 inputs, not 3"),
    "classes": ({"x": images(), "labels": np.full(12, 3)}, "labels must be 0 to 2, the output's classes, not 3"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("arrays", "text"), WRONG.values(), ids=WRONG)
def test_archives_that_do_not_fit(arrays, text, call, model, save, tmp_path):
    archive = save("c.npz", **arrays)
    assert_refused(call("quantize", model, "--data", archive, "--out", tmp_path / "q.onnx"), text)
    assert not (tmp_path / "q.onnx").exists()


def test_models_that_are_refused(call, model, data, tmp_path):
    out = tmp_path / "q.onnx"
    assert call("quantize", model, "--data", data, "--out", out).exit_code == 0
    again = call("quantize", out, "--data", data, "--out", tmp_path / "again.onnx")
    assert_refused(again, "must be a float model, not a quantized one: it has DequantizeLinear")
    relu = float_model(tmp_path / "r.onnx", "y = Relu(x)", ends="(float[N, 3] x) => (float[N, 3] y)")
    assert_refused(call("quantize", relu, "--out", tmp_path / "again.onnx"), "must have a product to quantize")
    halves = float_model(tmp_path / "h.onnx", "c = Cast<to = 1>(x) y = Gemm<transB = 1>(c, u, d)",
                         ends="(int64[N, 4] x) => (float[N, 3] y)")  # fmt: skip
    refused = call("quantize", halves, "--out", tmp_path / "again.onnx")
    assert_refused(refused, "input 'x' must be float32 to be quantized, not int64")
    assert_refused(call("quantize", model, "--out", model), "out must be another file than the float model")
    assert_refused(call("quantize", model, "--out", tmp_path / "q.npz"), "out must be a file .onnx")
    refused = call("quantize", model, "--out", out, "--shape", "z=1")
    assert_refused(refused, "shape must name an input of")
    refused = call("quantize", model, "--out", out, "--shape", "x=1,1,5,5")
    assert_refused(refused, "shape of 'x' must agree with the model's [N, 1, 6, 6], not be [1, 1, 5, 5]")
    refused = call("quantize", model, "--data", data, "--out", out, "--calibrate-with", 13)
    assert_refused(refused, "calibration samples must be 1 to 12, not 13")
    assert not (tmp_path / "again.onnx").exists()


def test_the_preset_digits_cnn_is_what_the_command_makes_of_its_float_model(call, save, tmp_path):
    """Powers of two: every integer and scale of the model in the package."""
    pytest.importorskip("sklearn")
    train, _, labels, _ = split_digits()
    data = save("c.npz", image=train.reshape(-1, 1, 8, 8).astype(np.float32), labels=labels)
    result = call("quantize", FLOAT_MODEL, "--data", data, "--out", tmp_path / "q.onnx", "--power-of-two")
    assert result.exit_code == 0, result.output
    assert onnx.load(tmp_path / "q.onnx").graph == onnx.load(INT8_MODEL).graph
