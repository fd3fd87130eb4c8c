"""The network of the preset digits-vit: every tensor is onnxruntime's, its accuracy, its certificate, and its RTL."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from systoliq.design import open_source
from systoliq.design.digits import split_digits
from systoliq.design.digits_vit import FLOAT_MODEL, INT8_MODEL, digits_vit
from systoliq.design.network import NetworkOptions
from systoliq.golden.network import LayerNormalization, MatrixProduct, Softmax

from ..onnx.network.oracle import by_node

ACCURACY = 0.97


@pytest.fixture(scope="module")
def images():
    """The test images, 0 to 16, and their labels."""
    _, test_x, _, labels = split_digits()
    return test_x.reshape(-1, 1, 8, 8).astype(np.float32), labels


def test_it_is_a_transformer():
    network, _ = digits_vit()
    counts = {kind: sum(isinstance(node, kind) for node in network.nodes) for kind in (Softmax, MatrixProduct)}
    assert counts == {Softmax: 2, MatrixProduct: 4}
    assert sum(isinstance(node, LayerNormalization) for node in network.nodes) == 5


def test_every_node_gives_onnxruntimes_integers_for_its_inputs(images):
    """For all test images; a normalized value next to a tie may be the next integer."""
    network, _ = digits_vit()
    found = by_node(INT8_MODEL, network, {"image": images[0]})
    assert sum(each.compared for each in found) > 3_000_000
    for each in found:
        if each.wrong:
            assert isinstance(each.node, LayerNormalization), each.node.name
            assert each.wrong <= each.compared / 10_000
            assert each.furthest == 1


def test_accuracy(images):
    for path in (FLOAT_MODEL, INT8_MODEL):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        (scores,) = session.run(None, {"image": images[0]})
        assert np.mean(scores.argmax(axis=1) == images[1]) > ACCURACY, path.name


@pytest.mark.slow
@pytest.mark.simulator
def test_images_in_rtl(images):
    run = open_source("digits-vit", NetworkOptions()).simulate({"image": images[0][:40]}).check()
    assert run.report["images"] == 40
