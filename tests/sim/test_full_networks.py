"""Networks of full size in RTL: every integer tensor equals golden's, and the cycles between images are the plan's.

All of it is slow: a simulator is built for each. `pytest -m slow tests/sim/test_full_networks.py`
"""

from __future__ import annotations

import logging

import numpy as np
import pytest

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.onnx import read_network

from ..onnx.network.networks import TINY, branches, images, quantized

FULL = TINY | {"branches": lambda: branches(averaged=False)}


def run(network, x, multipliers):
    design = NetworkDesign(network, NetworkOptions(multipliers=multipliers))
    once, twice = (design.simulate({network.sources[0].name: x[:count]}).check() for count in (len(x) - 1, len(x)))
    assert twice.report["mismatches"] == 0
    assert twice.report["outputs"] == len(x) * sum(np.prod(t.shape[1:]) for t in design.assembly.tensors.values()) - (
        len(x) * np.prod(network.inputs[0].shape[1:])
    )
    assert twice.report["cycles"] - once.report["cycles"] == design.assembly.image_cycles


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_what_the_quantizer_writes(name, tmp_path):
    logging.disable(logging.WARNING)  # it advises to preprocess
    net = FULL[name]()
    path = quantized(tmp_path, net, form="QDQ", types="s8s8", opset=13, per_channel=True)
    logging.disable(logging.NOTSET)
    run(read_network(path), images(net.shape, 3, 9), 60)


@pytest.mark.slow
def test_resnet8(shared):
    network = read_network(shared / "data" / "mlperf_resnet8_qdq.onnx")
    x = np.random.default_rng(0).uniform(0, 255, (20, 32, 32, 3)).astype(np.float32)
    run(network, x, 222)
