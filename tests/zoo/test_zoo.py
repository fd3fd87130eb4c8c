"""A zoo of architectures, quantized by onnxruntime: each becomes hardware whole, or is refused by name."""

from __future__ import annotations

import functools
import logging

import numpy as np
import pytest

from systoliq.design.network.reasons import reasons_against
from systoliq.onnx import Model

from ..onnx.network.networks import TYPES, images, quantized
from ..onnx.network.oracle import check
from .architectures import ARCHITECTURES, OPSETS
from .shares import verilog_fault


def float_weights(node, weights):
    """The quantizer leaves a ConvTranspose in float."""
    return (
        f"ConvTranspose '{node}': the weights must come from a DequantizeLinear, not from the initializer '{weights}': "
        "quantize this node, too; ConvTranspose can be quantized in the QDQ format only"
    )


def linear_resize(node):
    """onnxruntime's kernels of integers do not agree: see tests/onnx/network/test_linear_resize.py."""
    return (
        f"Resize '{node}': mode must be nearest between integers, not linear: put it behind a DequantizeLinear; "
        "linear Resize can be quantized in the QDQ format only"
    )


def float_maximum(node, x, relu):
    """The quantizer leaves a BatchNormalization in float, and what follows up to the next product."""
    return (
        f"MaxPool '{node}': its input '{x}' must come from a DequantizeLinear, not from Relu '{relu}', whose result "
        "onnxruntime then leaves in float: quantize it, too, with a QuantizeLinear and a DequantizeLinear behind it"
    )


REFUSED = {
    "unet, linear": [linear_resize("/resize8")],
    "unet, transposed": [float_weights("/convtranspose8", "c6"), float_weights("/convtranspose12", "c9")],
    "ecg": [float_maximum("/maxpool3", "t2", "/relu2"), float_maximum("/maxpool7", "t6", "/relu6")],
    "transposed_autoencoder": [float_weights("/convtranspose4", "c4")],
    "segmentation": [linear_resize("/resize5")],
}
"""Architectures that are not taken in the format QOperator, with every problem."""
OPTIONS = {
    "s8s8 by channel": {"per_channel": True},
    "s8s8 by tensor": {},
    "u8s8": {"types": "u8s8", "per_channel": True},
    "QOperator": {"form": "QOperator", "per_channel": True},
    "symmetric": {"per_channel": True, "extra_options": {"ActivationSymmetric": True}},
    "weights with Q": {"extra_options": {"AddQDQPairToWeight": True}},
}


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """The file of an architecture quantized with options, how it reads, and images for it."""

    @functools.cache
    def reading(name, options):
        net = ARCHITECTURES[name]()
        folder = tmp_path_factory.mktemp("zoo")
        path = quantized(folder, net, opset=OPSETS[name], **OPTIONS[options])
        return path, Model.open(path).reading, images(net.shape, 4, 9)

    return reading


def test_the_options_are_those_of_the_quantizer():
    assert {options.get("types", "s8s8") for options in OPTIONS.values()} <= set(TYPES)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_integers_are_onnxruntimes(name, read):
    path, reading, x = read(name, "s8s8 by channel")
    network = reading.checked()
    compared, _ = check(path, network, {"x": x})
    assert compared >= len(x) * sum(np.prod(node.output.shape) for node in network.nodes if node.multiply_accumulates)
    assert reasons_against(network) == ()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("options", [name for name in OPTIONS if name != "s8s8 by channel"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_option_of_the_quantizer(name, options, read):
    path, reading, x = read(name, options)
    if options == "QOperator" and name in REFUSED:
        assert list(reading.problems) == REFUSED[name]
        return
    compared, _ = check(path, reading.checked(), {"x": x})
    assert compared > 0


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_in_verilog(name, read):
    """Every integer equal with stalls and without, in the planned cycles, and the package verified."""
    _, reading, _ = read(name, "s8s8 by channel")
    assert verilog_fault(reading.checked()) is None
