"""The encoder of KWT-1, the keyword transformer, as one network: onnxruntime's integers, its plan, a layer in RTL."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign, NetworkOptions
from systoliq.errors import InputError
from systoliq.golden.network import LayerNormalization, MatrixProduct, Softmax
from systoliq.onnx import read_network
from systoliq.synth import open_target

from .kwt import VALUES, kwt
from .oracle import by_node
from .quantized import quantized


def on_ecp5():
    part = open_target("ecp5-85k")
    return NetworkOptions(cells=part.cells, part=part)


def quantized_kwt(folder, layers, tokens):
    path = folder / "kwt.onnx"
    quantized(kwt(layers, tokens=tokens), path)
    return path


@pytest.mark.parametrize(
    ("layers", "tokens"),
    [(1, 10), pytest.param(1, 98, marks=pytest.mark.slow), pytest.param(12, 98, marks=pytest.mark.slow)],
)
def test_every_node_gives_onnxruntimes_integers_for_its_inputs(layers, tokens, tmp_path):
    """A normalized value next to a tie may be the next integer."""
    path = quantized_kwt(tmp_path, layers, tokens)
    network = read_network(path)
    counts = [
        sum(isinstance(node, kind) for node in network.nodes) for kind in (Softmax, MatrixProduct, LayerNormalization)
    ]
    assert counts == [layers, 2 * layers, 2 * layers]
    rng, compared = np.random.default_rng(2), 0
    for _ in range(3):
        for each in by_node(path, network, {"mfcc": rng.normal(0, 1, (1, tokens, VALUES)).astype(np.float32)}):
            compared += each.compared
            if each.wrong:
                assert isinstance(each.node, LayerNormalization), each.node.name
                assert each.wrong <= 3
                assert each.furthest == 1
    assert compared > 10_000 * tokens // 10 * layers


@pytest.mark.slow
def test_a_layer_fits_an_ecp5_and_twelve_do_not(tmp_path):
    network = read_network(quantized_kwt(tmp_path, 1, 98))
    plan = NetworkDesign(network, on_ecp5()).plan
    assert plan.image_cycles < 175_000
    (tmp_path / "12").mkdir()
    refusal = r"the plan does not fit .* needs about .* memory blocks where there are 208; .*\(systoliq compile\)"
    with pytest.raises(InputError, match=refusal):
        NetworkDesign(read_network(quantized_kwt(tmp_path / "12", 12, 98)), on_ecp5())


@pytest.mark.slow
@pytest.mark.simulator
def test_a_layer_in_rtl(tmp_path):
    design = NetworkDesign(read_network(quantized_kwt(tmp_path, 1, 98)))
    mfcc = np.random.default_rng(3).normal(0, 1, (2, 98, VALUES)).astype(np.float32)
    assert design.simulate({"mfcc": mfcc}).check().passed
