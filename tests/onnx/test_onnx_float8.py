"""float8 in a model: the layer is what docs/float8.md defines, by Python integers; in QDQ form also what onnxruntime
computes, where its float32 sums are exact. Beside integers: test_onnx_mixes.py.
"""

from __future__ import annotations

import itertools
import json
import logging

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from systoliq.onnx import read_onnx, read_products

from ..cli.refused import assert_refused
from ..golden import float8_oracle as oracle
from .float8_models import (
    GENERAL,
    POWERS,
    QDQ,
    by_definition,
    codes,
    few_bits,
    in_onnxruntime,
    model,
)
from .onnx_models import K, N
from .onnx_nodes import DQ_A, DQ_W, MATMUL, Q_Y, QGEMM, QLINEAR, nodes

MIXES = list(itertools.product(oracle.FLOAT8, repeat=3))
E4M3FN = oracle.dtype("float8_e4m3fn")


@pytest.mark.parametrize("types", MIXES, ids=lambda types: "-".join(name[7:] for name in types))
def test_qlinear_matmul_of_every_mix(types, tmp_path):
    rng = np.random.default_rng(5)
    w, a = codes(rng, types[1], (K, N)), codes(rng, types[0], (12, K), 0.02)
    scales = GENERAL["a_s"], GENERAL["w_s"], GENERAL["y_s"]
    layer = read_onnx(model(tmp_path / "model.onnx", QLINEAR, types, *scales, w))
    assert (layer.a_format.name, layer.b_format.name, layer.y_format.name) == types
    np.testing.assert_array_equal(layer.golden(a).view(np.uint8), by_definition(a, w, scales, types[2]))


@pytest.mark.parametrize("name", oracle.FLOAT8)
@pytest.mark.parametrize("graph", QDQ.values(), ids=QDQ)
def test_qdq_is_what_onnxruntime_computes(graph, name, tmp_path):
    rng = np.random.default_rng(6)
    types = (name, "float8_e5m2", name)
    w, a = few_bits(rng, types[1], (K, N)), few_bits(rng, name, (200, K))
    path = model(tmp_path / "model.onnx", graph, types, *POWERS.values(), w)
    layer = read_onnx(path)
    y = in_onnxruntime(path, a)
    assert len(np.unique(y)) > 40
    np.testing.assert_array_equal(oracle.values(name)[layer.golden(a).view(np.uint8)], y)


class Rows(CalibrationDataReader):
    def __init__(self):
        rng = np.random.default_rng(5)
        self._batches = iter([{"x": rng.normal(0.3, 1, (64, K)).astype(np.float32)} for _ in range(2)])

    def get_next(self):
        return next(self._batches, None)


@pytest.mark.parametrize("pattern", ["QDQ", "QOperator"])
def test_what_onnxruntimes_quantizer_writes(pattern, tmp_path, capsys):
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    weights = np.random.default_rng(4).normal(0, 0.1, (K, N)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "W"], ["y"], name="fc")], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["M", K])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["M", N])],
        [onnx.numpy_helper.from_array(weights, "W")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "f.onnx")
    kind = QuantType.QFLOAT8E4M3FN
    quantize_static(
        tmp_path / "f.onnx", tmp_path / "q.onnx", Rows(), quant_format=QuantFormat[pattern], activation_type=kind,
        weight_type=kind, calibrate_method=CalibrationMethod.Distribution,
    )  # fmt: skip
    logging.disable(logging.NOTSET)
    (product,) = read_products(tmp_path / "q.onnx")
    assert (product.pattern, product.reason) == (pattern, None)
    given = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(tmp_path / "q.onnx").graph.initializer}
    a = codes(np.random.default_rng(3), "float8_e4m3fn", (100, K), 0.01)
    scales = [given[f"{name}_scale"] for name in "xWy"]
    expected = by_definition(a, given["W_quantized"], scales, "float8_e4m3fn")
    np.testing.assert_array_equal(product.layer.golden(a).view(np.uint8), expected)


E8M0 = helper.make_tensor("v", TensorProto.FLOAT8E8M0, [], b"\x7f", raw=True)
NOT_SATURATED = Q_Y.replace("QuantizeLinear", "QuantizeLinear<saturate = 0>")
ONE = np.array(0x38, np.uint8).view(E4M3FN)
REFUSED = {
    "zero point of A": (QLINEAR, {"a_z": ONE}, "a_zero_point must be 0, as it is float8_e4m3fn, not the code 0x38"),
    "zero point of B": (nodes(DQ_A, DQ_W, MATMUL, Q_Y), {"w_z": ONE}, "b_zero_point must be 0, as it is float8_e4m3fn"),
    "zero point of Y": (nodes(DQ_A, DQ_W, MATMUL, Q_Y), {"y_z": ONE}, "y_zero_point must be 0, as it is float8_e4m3fn"),
    "zero point of float weights": (
        nodes(DQ_A, "q = QuantizeLinear(F, w_s, one)", DQ_W.replace("W", "q"), MATMUL, Q_Y), {"one": ONE},
        "b's zero point in QuantizeLinear 'q' must be 0, as it is float8_e4m3fn"),
    "underflow": (QLINEAR, {"a_s": np.float32(1e-30), "w_s": np.float32(1e-30)},
        "a_scale * b_scale / y_scale must not underflow to 0 in float32, not 1"),
    "negative scale": (QLINEAR, {"y_s": np.float32(-1)}, "y_scale must be positive and finite, not -1.0"),
    "unsaturated": (nodes(DQ_A, DQ_W, MATMUL, NOT_SATURATED), {}, "saturate must be 1 in QuantizeLinear 'yq', not 0"),
    "unsaturated weights": (
        nodes(DQ_A, "q = QuantizeLinear<saturate = 0>(F, w_s, w_z)", DQ_W.replace("W", "q"), MATMUL, Q_Y), {},
        "saturate must be 1 in QuantizeLinear 'q', not 0"),
    "Relu": (nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", "y = Relu(h)", Q_Y), {},
        "Relu 'y' must not stand before QuantizeLinear 'yq': float8 has numbers below 0"),
    "bias of a Gemm": (nodes(DQ_A, DQ_W, "[fc] y = Gemm(x, w, c)", Q_Y), {"c": np.ones(N, np.float32)},
        "a product with float8 must be without a bias, not with 'c': make it a row of the weights"),
    "bias in an Add": (nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", "y = Add(h, c)", Q_Y), {"c": np.float32([2])},
        "a product with float8 must be without a bias, not with 'c': make it a row of the weights"),
    "bias of a QGemm": (QGEMM, {}, "a product with float8 must be without a bias, not with 'bias'"),
    "another float8": (nodes("z8 = Constant<value = placeholder>()", QLINEAR.replace("w_z", "z8")),
        {"placeholder": E8M0}, "b_zero_point must be of integers of 2, 4, 8 or 16 bits, one of the four float8 types"),
}  # fmt: skip


@pytest.mark.parametrize(("graph", "changes", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_taken_says_why(graph, changes, text, call, tmp_path):
    w = codes(np.random.default_rng(1), "float8_e4m3fn", (K, N))
    one = np.float32(1)
    path = model(tmp_path / "model.onnx", graph, ("float8_e4m3fn",) * 3, one, one, one, w, **changes)
    result = call("emit", path, "--out", tmp_path / "out")
    assert_refused(result, text)
    assert not (tmp_path / "out").exists()


def test_layers_says_where_a_model_in_qdq_form_may_round(call, tmp_path):
    w = codes(np.random.default_rng(1), "float8_e4m3fn", (K, N))
    for graph, noted in ((QDQ["MatMul"], True), (QLINEAR, False)):
        path = model(tmp_path / "model.onnx", graph, ("float8_e4m3fn",) * 3, *POWERS.values(), w)
        result = call("layers", path)
        assert result.exit_code == 0, result.output
        assert "float8_e4m3fn x float8_e4m3fn -> float8_e4m3fn" in result.stdout
        assert ("note: a layer with float8 rounds once" in result.stdout) == noted


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(
    "types", [("float8_e4m3fn", "float8_e5m2", "float8_e5m2"), ("uint8", "float8_e5m2", "int8")], ids="-".join
)
def test_a_model_through_its_verilog(types, call, tmp_path):
    rng = np.random.default_rng(8)
    w, a = codes(rng, types[1], (K, N)), codes(rng, types[0], (30, K), 0.01)
    path = model(tmp_path / "model.onnx", QDQ["MatMul"], types, *GENERAL.values(), w)
    np.savez(tmp_path / "a.npz", a=a.view(np.uint8))
    report = tmp_path / "report.json"
    arguments = ["--input", tmp_path / "a.npz", "--output", tmp_path / "y.npz", "--simulator", "icarus"]
    result = call("simulate", f"{path}#fc", *arguments, "--report", report)
    assert result.exit_code == 0, result.output
    assert json.loads(report.read_text())["mismatches"] == 0
    expected = by_definition(a, w, GENERAL.values(), types[2])
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"].view(np.uint8), expected.astype(np.uint8))
