"""A vision transformer of 32 x 32 pixels as one network: onnxruntime's integers, and in RTL."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.golden.network import LayerNormalization, MatrixProduct, Softmax
from systoliq.onnx import read_network

from .oracle import by_node
from .quantized import quantized
from .vit import vit


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """17 tokens of 32 channels, four heads."""
    file = tmp_path_factory.mktemp("vit") / "vit.onnx"
    quantized(vit(8), file)
    return file


def images(count):
    return {"image": np.random.default_rng(2).normal(0, 1, (count, 3, 32, 32)).astype(np.float32)}


def test_every_node_gives_onnxruntimes_integers(path):
    network = read_network(path)
    kinds = [type(node) for node in network.nodes]
    assert [kinds.count(kind) for kind in (Softmax, MatrixProduct, LayerNormalization)] == [1, 2, 3]
    found = by_node(path, network, images(2))
    assert sum(each.compared for each in found) > 37_000
    assert [each.node.name for each in found if each.wrong] == []


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_in_rtl(path, simulator):
    design = NetworkDesign(read_network(path))
    run = design.simulate(images(2), simulator=simulator).check()
    assert run.report["outputs"] > 35_000
    assert run.cycles == design.cycles(2)
