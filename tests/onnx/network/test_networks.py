"""Whole networks against onnxruntime: MLPerf Tiny's ResNet8, and what onnxruntime's quantizer makes of seeded ones."""

from __future__ import annotations

import itertools
import logging

import numpy as np
import pytest

from systoliq.build.onnx.network import read_network, read_nodes
from systoliq.golden.network import Move

from .networks import MOBILENET, NETWORKS, TYPES, autoencoder, ds_cnn, images, mobilenet, quantized
from .oracle import check

FULL = {
    "autoencoder": lambda: autoencoder((640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640)),
    "ds_cnn": lambda: ds_cnn((49, 10), 64, 4),
    "mobilenet": lambda: mobilenet(96, 8, MOBILENET),
}
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
    assert compared >= sum(np.prod(node.output.shape) for node in network.nodes if node.multiply_accumulates) * len(x)
    assert operators >= FUSED[name]
    assert not operators & FLOAT - ({"Gemm"} if name == "ds_cnn" else set())


@pytest.mark.parametrize(("form", "types", "per_channel", "opset"), FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_quantized_networks(name, form, types, per_channel, opset, tmp_path):
    net = NETWORKS[name]()
    path = quantized(tmp_path, net, form=form, types=types, opset=opset, per_channel=per_channel)
    compare(path, name, images(net.shape, 20, 9))


@pytest.mark.parametrize(("form", "types", "per_channel"), [("QDQ", "s8s8", True), ("QOperator", "u8s8", False)])
@pytest.mark.parametrize("name", FULL)
def test_networks_of_full_size(name, form, types, per_channel, tmp_path):
    net = FULL[name]()
    path = quantized(tmp_path, net, form=form, types=types, per_channel=per_channel)
    compare(path, name, images(net.shape, 20, 9))


def test_resnet8(shared):
    """All 15 integer tensors for 20 images of smooth noise, one at a time in onnxruntime and all at once in golden."""
    path = shared / "data" / "mlperf_resnet8_qdq.onnx"
    rng = np.random.default_rng(11)
    coarse = rng.uniform(0, 255, (20, 8, 8, 3)).repeat(4, axis=1).repeat(4, axis=2)
    x = np.clip(coarse + rng.normal(0, 20, coarse.shape), 0, 255).astype(np.float32)
    reading = read_nodes(path)
    network = reading.network
    assert network.multiply_accumulates == reading.multiply_accumulates == 12501632
    assert [tensor.name for tensor in network.outputs] == ["PPQ_Variable_193"]
    compared, operators = check(path, network, {"input_1": x})
    named = [*network.inputs, *(node.output for node in network.nodes if not isinstance(node, Move))]
    assert len(named) == 15
    assert compared == 20 * sum(np.prod(tensor.shape) for tensor in named)
    assert operators == {"Transpose", "QuantizeLinear", "QLinearConv", "QLinearAdd", "QLinearAveragePool", "Reshape",
                         "QGemm", "DequantizeLinear", "Softmax"}  # fmt: skip
