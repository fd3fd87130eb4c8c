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

FLOAT_WEIGHTS = {(name, "QOperator") for name in ("unet, transposed", "transposed_autoencoder")}
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
    if (name, options) in FLOAT_WEIGHTS:  # onnxruntime's quantizer leaves a ConvTranspose in float
        assert any("the weights must come from a DequantizeLinear" in reason for reason in reading.problems)
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
