"""Joins and groups on the way from a quantizer's file to hardware: gates, swish, concatenation, upsampling."""

from __future__ import annotations

import logging
import subprocess

import numpy as np
import pytest

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.golden.network import Concatenation, Move, Multiplication
from systoliq.onnx import read_network
from systoliq.package import write_package
from systoliq.sim.tools import find, missing_text

from ...onnx.network.networks import Builder, images, quantized
from ...onnx.network.oracle import check


def network():
    """Squeeze and excite, a smaller map made larger again beside it, swish, all in one."""
    net = Builder([1, 2, 6, 4])
    net.conv(2, 4, (3, 3), pads=[1, 1, 1, 1], groups=2)
    trunk = net.relu()
    net.add("GlobalAveragePool")
    net.conv(4, 2, (1, 1))
    net.relu()
    net.conv(2, 4, (1, 1))
    gated = net.add("Mul", trunk, net.add("Sigmoid"))
    net.last = trunk
    net.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    net.conv(4, 2, (3, 3), pads=[1, 1, 1, 1], groups=2)
    low = net.add("Resize", net.last, "", net.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    wide = net.add("Concat", gated, low, axis=1)
    net.add("Mul", wide, net.add("Sigmoid"))
    net.conv(6, 3, (1, 1))
    return net


@pytest.fixture(params=[("QDQ", "s8s8"), ("QOperator", "u8u8")], ids=str)
def path(request, tmp_path):
    form, types = request.param
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    yield quantized(tmp_path, network(), form=form, types=types, per_channel=True)
    logging.disable(logging.NOTSET)


@pytest.fixture
def icarus():
    if not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    return "icarus"


def test_golden_is_onnxruntimes(path):
    net = read_network(path)
    kinds = [type(node) for node in net.nodes]
    assert {kind: kinds.count(kind) for kind in (Multiplication, Concatenation, Move)} == {
        Multiplication: 2, Concatenation: 1, Move: 1,
    }  # fmt: skip
    compared, operators = check(path, net, {"x": images([1, 2, 6, 4], 12, 3)})
    assert compared > 12 * 24 * (4 + 4 + 4 + 6 + 6 + 3)
    assert operators >= {"QLinearMul", "QLinearConcat", "QLinearConv", "Resize"}


@pytest.mark.slow  # tests/sim/test_network.py has a join
@pytest.mark.simulator
@pytest.mark.parametrize("cells", ["portable", pytest.param("ecp5", marks=pytest.mark.slow)])
def test_every_tensor_is_goldens(path, cells, icarus):
    net = read_network(path)
    design = NetworkDesign(net, NetworkOptions(multipliers=60, cells=cells))
    result = design.simulate({"x": images([1, 2, 6, 4], 3, 4)}, simulator=icarus, stalls=0.3).check()
    assert set(result.tensors) == {node.output.name for node in net.nodes}


@pytest.mark.slow
@pytest.mark.simulator
def test_testbench(path, tmp_path, icarus):
    """It passes, at the plan's cycles."""
    design = NetworkDesign(read_network(path), NetworkOptions(multipliers=60), name="net")
    write_package(design, tmp_path / "out")
    sources = sorted(map(str, (tmp_path / "out").glob("*.v")))
    subprocess.run(["iverilog", "-g2005", "-o", "t", *sources], cwd=tmp_path, check=True)
    said = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300).stdout
    assert said.startswith("PASS")
