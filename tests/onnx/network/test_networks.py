"""Whole networks against onnxruntime: MLPerf Tiny's ResNet8, and what onnxruntime's quantizer makes of seeded ones."""

from __future__ import annotations

import itertools
import logging

import numpy as np
import onnx
import pytest

from systoliq.golden.network import Move
from systoliq.onnx import Model, read_network

from .networks import NETWORKS, TINY, TYPES, images, quantized
from .oracle import check, check_ends, seen, session, write

FORMS = list(itertools.product(("QDQ", "QOperator"), TYPES, (False, True), (13, 21)))
# operators that show that onnxruntime computed the network in integers
FUSED = {
    "autoencoder": {"QGemm", "QLinearMatMul", "QLinearAdd"},
    "ds_cnn": {"QLinearConv", "QLinearGlobalAveragePool"},
    "mobilenet": {"QLinearConv", "QLinearGlobalAveragePool", "QGemm"},
    "branches": {"QLinearConv", "QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearAveragePool", "QLinearSigmoid",
                 "QLinearLeakyRelu", "QGemm", "Resize"},
}  # fmt: skip
FLOAT = {"Conv", "MatMul", "Gemm", "Add", "Mul", "AveragePool", "GlobalAveragePool", "Sigmoid", "LeakyRelu", "Concat"}


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    yield
    logging.disable(logging.NOTSET)


def compare(path, name: str, x: np.ndarray) -> None:
    network = read_network(path)
    compared, operators = check(path, network, {"x": x})
    assert check_ends(path, network, {"x": x}) > 0 or name == "ds_cnn"  # its last integers go to a Softmax
    assert compared >= sum(np.prod(node.output.shape) for node in network.nodes if node.multiply_accumulates) * len(x)
    assert operators >= FUSED[name]
    assert not operators & FLOAT - ({"Gemm"} if name == "ds_cnn" else set())


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("form", "types", "per_channel", "opset"), FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_quantized_networks(name, form, types, per_channel, opset, tmp_path):
    net = NETWORKS[name]()
    path = quantized(tmp_path, net, form=form, types=types, opset=opset, per_channel=per_channel)
    compare(path, name, images(net.shape, 20, 9))


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("form", "types", "per_channel"), [("QDQ", "s8s8", True), ("QOperator", "u8s8", False)])
@pytest.mark.parametrize("name", TINY)
def test_networks_of_full_size(name, form, types, per_channel, tmp_path):
    net = TINY[name]()
    path = quantized(tmp_path, net, form=form, types=types, per_channel=per_channel)
    compare(path, name, images(net.shape, 20, 9))


OPTIONS = [
    {"ActivationSymmetric": True},  # a Relu is then a table of its own
    {"WeightSymmetric": False},
    {"UseQDQContribOps": True},
    {"AddQDQPairToWeight": True},
    {"OpTypesToExcludeOutputQuantization": ["Gemm"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["mobilenet", "branches"])
def test_options_of_the_quantizer(name, options, tmp_path):
    net = NETWORKS[name]()
    path = quantized(tmp_path, net, per_channel=True, extra_options=options)
    network = read_network(path)
    compared, operators = check(path, network, {"x": images(net.shape, 20, 9)})
    assert not operators & FLOAT
    assert compared >= 20 * sum(np.prod(node.output.shape) for node in network.nodes if node.multiply_accumulates)
    tables = sum(node.kind == "table" for node in network.nodes)
    assert tables >= (9 if "ActivationSymmetric" in options and name == "mobilenet" else 0)


def test_what_the_nodes_of_a_network_are(tmp_path):
    network = read_network(quantized(tmp_path, NETWORKS["branches"](), opset=13))
    assert [node.kind for node in network.nodes] == [
        "convolution 3 x 3, 3 -> 6", "maximum of 2 x 2 / 2", "convolution 1 x 1, 6 -> 6",
        "convolution 3 x 3, 2 apart, 6 -> 6 in 2 groups", "table", "table", "nearest pixels", "addition",
        "multiplication", "concatenation of 2", "average of 6 x 6 / 2, in float32", "convolution 1 x 1, 12 -> 4",
        "transpose", "reshape", "dense 64 -> 5",
    ]  # fmt: skip
    fork = network.nodes[0].output.name
    assert [node.kind for node in network.consumers(fork)] == [network.nodes[i].kind for i in (1, 2, 7)]


def test_two_inputs_and_two_outputs(tmp_path):
    """Batches of two, of which onnxruntime takes one after the other; a tensor that both ends take."""
    text = """g (float[2, 3, 5, 5] x, float[2, 3, 5, 5] r) => (float[2, 4, 5, 5] p, float[2, 3, 5, 5] q) {
        a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z)
        b = QuantizeLinear(r, t, z) fb = DequantizeLinear(b, t, z)
        f = Add(fa, fb) c = QuantizeLinear(f, t, z) q = DequantizeLinear(c, t, z) fw = DequantizeLinear(w, s, z)
        h = Conv<pads = [1, 1, 1, 1]>(q, fw) y = QuantizeLinear(h, u, z) p = DequantizeLinear(y, u, z) }"""
    rng = np.random.default_rng(3)
    constants = {
        "s": np.float32(0.01), "t": np.float32(0.03), "u": np.float32(0.2), "z": np.int8(-4),
        "w": rng.integers(-128, 128, (4, 3, 3, 3)).astype(np.int8),
    }  # fmt: skip
    path = write(tmp_path / "model.onnx", text, constants)
    network = read_network(path)
    assert [tensor.name for tensor in network.inputs] == ["a", "b"]
    assert {tensor.name for tensor in network.outputs} == {"c", "y"}
    inputs = {name: rng.normal(0, 1, (20, 3, 5, 5)).astype(np.float32) for name in ("x", "r")}
    compared, operators = check(path, network, inputs)
    assert compared == 20 * 25 * (3 + 3 + 3 + 4)
    assert {"QLinearAdd", "QLinearConv"} <= operators


def test_resnet8(shared):
    """All 15 integer tensors for 20 images of smooth noise, one at a time in onnxruntime and all at once in golden."""
    path = shared / "data" / "mlperf_resnet8_qdq.onnx"
    rng = np.random.default_rng(11)
    coarse = rng.uniform(0, 255, (20, 8, 8, 3)).repeat(4, axis=1).repeat(4, axis=2)
    x = np.clip(coarse + rng.normal(0, 20, coarse.shape), 0, 255).astype(np.float32)
    reading = Model.open(path).reading
    network = reading.network
    assert network.multiply_accumulates == reading.multiply_accumulates == 12501632
    assert [tensor.name for tensor in network.outputs] == ["PPQ_Variable_193"]
    compared, operators = check(path, network, {"input_1": x})
    named = [*network.inputs, *(node.output for node in network.nodes if not isinstance(node, Move))]
    assert len(named) == 15
    assert compared == 20 * sum(np.prod(tensor.shape) for tensor in named)
    assert operators == {"Transpose", "QuantizeLinear", "QLinearConv", "QLinearAdd", "QLinearAveragePool", "Reshape",
                         "QGemm", "DequantizeLinear", "Softmax"}  # fmt: skip
    plain, watched = session(onnx.load(path)), session(seen(path, network)[0])
    for image in x[:, None]:
        results = [run.run(["dense"], {"input_1": image})[0] for run in (plain, watched)]
        np.testing.assert_array_equal(*results)  # to watch tensors changes nothing
