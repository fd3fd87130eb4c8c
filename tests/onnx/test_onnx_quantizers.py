"""What onnxruntime's quantizer writes, as SOURCE: the layer gives what onnxruntime's fused graph gives, bit for bit.

Weights are reduced to 7 bits: onnxruntime saturates inside for u8 x s8 on machines with AVX2 but without VNNI.
"""

from __future__ import annotations

import itertools
import logging
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from systoliq.onnx import read_products
from systoliq.onnx.products import Product

from .onnx_models import run

K, N, ROWS = 48, 7, 1000

# Nodes of the float model from x to y: what the quantizer makes of its product.
MODELS = {
    "Gemm": [helper.make_node("Gemm", ["x", "W", "c"], ["y"], name="fc")],
    "Gemm, transB": [helper.make_node("Gemm", ["x", "Wt", "c"], ["y"], name="fc", transB=1)],
    "Gemm + Relu": [
        helper.make_node("Gemm", ["x", "W", "c"], ["h"], name="fc"),
        helper.make_node("Relu", ["h"], ["y"]),
    ],
    "MatMul": [helper.make_node("MatMul", ["x", "W"], ["y"], name="fc")],
    "MatMul + Add": [
        helper.make_node("MatMul", ["x", "W"], ["h"], name="fc"),
        helper.make_node("Add", ["h", "c"], ["y"], name="add"),
    ],
}
U8, S8 = QuantType.QUInt8, QuantType.QInt8
TYPES = {"u8s8": (U8, S8), "s8s8": (S8, S8), "u8u8": (U8, U8)}
KINDS = list(itertools.product(MODELS, ["QDQ", "QOperator"], TYPES, [False, True], [False, True]))


class Rows(CalibrationDataReader):
    def __init__(self) -> None:
        generator = np.random.default_rng(5)
        self._batches = iter([{"x": generator.normal(0.3, 1, (64, K)).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self._batches, None)


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    yield
    logging.disable(logging.NOTSET)


def float_model(path: Path, name: str, opset: int = 13) -> Path:
    generator = np.random.default_rng(4)
    w = generator.normal(0, 1, (K, N)) * generator.uniform(0.2, 2, N)
    constants = {"W": w, "Wt": w.T, "c": generator.normal(0, 5, N)}
    used = {input_ for node in MODELS[name] for input_ in node.input}
    graph = helper.make_graph(
        MODELS[name],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", K])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", N])],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in constants.items() if k in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 21 else 10)
    onnx.save(model, path)
    return path


def quantized(folder: Path, name: str, *, opset: int = 13, **options) -> Path:
    path = folder / "quantized.onnx"
    quantize_static(float_model(folder / "float.onnx", name, opset), path, Rows(), reduce_range=True, **options)
    return path


def check(path: Path, product: Product) -> int:
    """Compare with onnxruntime on the integers that it sees inside; returns how many outputs were compared."""
    layer = product.layer
    assert layer is not None, product.reason
    model = onnx.load(path)
    users = {name: node for node in model.graph.node for name in node.input}
    node = next(node for node in model.graph.node if node.name == product.name)
    a, y = node.input[0], node.output[0]
    if product.pattern == "QDQ":
        a = next(n for n in model.graph.node if a in n.output).input[0]
        y = users[y].output[0]
    for name, fmt in ((a, layer.a_format), (y, layer.y_format)):
        kind = helper.np_dtype_to_tensor_dtype(fmt.dtype)
        model.graph.output.append(helper.make_tensor_value_info(name, kind, None))
    seen = path.with_name("seen.onnx")
    onnx.save(model, seen)
    x = np.random.default_rng(6).normal(0.3, 1.5, (ROWS, K)).astype(np.float32)
    (_, a, y), operators = run(seen, {"x": x})
    assert ("QLinearMatMul" if node.op_type in ("MatMul", "QLinearMatMul") else "QGemm") in operators
    assert a.shape == (ROWS, K)
    assert len(np.unique(y)) > 100
    np.testing.assert_array_equal(layer.golden(a), y)
    return y.size


@pytest.mark.parametrize(("name", "form", "types", "per_channel", "symmetric"), KINDS)
def test_static(name, form, types, per_channel, symmetric, tmp_path):
    activation, weight = TYPES[types]
    path = quantized(
        tmp_path, name, quant_format=QuantFormat[form], activation_type=activation, weight_type=weight,
        per_channel=per_channel, extra_options={"ActivationSymmetric": symmetric, "WeightSymmetric": symmetric},
    )  # fmt: skip
    (product,) = read_products(path)
    assert check(path, product) == ROWS * N
    assert (product.m, product.k, product.n) == ("rows", str(K), str(N))
    assert (product.layer.bias is not None) == name.startswith("Gemm")
    assert (len(np.unique(product.layer.b_scale)) == N) == per_channel


@pytest.mark.parametrize("opset", [13, 17, 19, 21])
@pytest.mark.parametrize("options", [{}, {"UseQDQContribOps": True}, {"AddQDQPairToWeight": True}], ids=str)
def test_options_and_opsets(options, opset, tmp_path):
    path = quantized(
        tmp_path, "Gemm, transB", opset=opset, quant_format=QuantFormat.QDQ, activation_type=U8, weight_type=S8,
        per_channel=True, extra_options=options,
    )  # fmt: skip
    (product,) = read_products(path)
    assert check(path, product) == ROWS * N


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("name", ["Gemm", "Gemm, transB", "Gemm + Relu"])
def test_a_bias_that_stays_float(name, per_channel, tmp_path):
    """onnxruntime rounds it to int32 when it fuses the product."""
    path = quantized(
        tmp_path, name, quant_format=QuantFormat.QDQ, per_channel=per_channel, extra_options={"QuantizeBias": False}
    )
    (product,) = read_products(path)
    assert product.layer.bias is not None
    assert check(path, product) == ROWS * N


def test_a_result_that_stays_float(tmp_path):
    options = {"OpTypesToExcludeOutputQuantization": ["Gemm"]}
    path = quantized(tmp_path, "Gemm", quant_format=QuantFormat.QDQ, extra_options=options)
    (product,) = read_products(path)
    x = np.random.default_rng(6).normal(0.3, 1.5, (ROWS, K)).astype(np.float32)
    (y,), operators = run(path, {"x": x})
    assert "QGemm" in operators
    found = product.layer.golden(product.layer.quantize(x))
    np.testing.assert_array_equal(product.host.finish(found, product.layer.a_scale), y)


def test_sixteen_bits(tmp_path):
    """onnxruntime computes these in float: its sums round on the way, the layer's are exact."""
    path = quantized(
        tmp_path, "MatMul", quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt16, weight_type=S8, opset=21
    )
    (product,) = read_products(path)
    assert (product.layer.a_format.name, product.layer.y_format.name) == ("uint16", "uint16")
