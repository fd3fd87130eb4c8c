"""MLPerf Tiny's networks on an LFE5U-85F: plans that its memory blocks hold, whatever the budget of lookup tables."""

from __future__ import annotations

import logging

import pytest

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.onnx import read_network
from systoliq.synth import open_target

from ...onnx.network.networks import TINY, quantized

PART = open_target("ecp5-85k")
MOST = {"autoencoder": 155, "mobilenet": 180}  # memory blocks of all plans; the weights alone are 115 and 86


@pytest.fixture(scope="module", params=MOST)
def named(request, tmp_path_factory):
    logging.disable(logging.WARNING)  # it advises to preprocess
    path = quantized(tmp_path_factory.mktemp(request.param), TINY[request.param](), per_channel=True)
    logging.disable(logging.NOTSET)
    return request.param, read_network(path)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("luts", [None, 0, 20_000])
def test_the_part_holds_it(named, luts):
    name, network = named
    design = NetworkDesign(network, NetworkOptions(cells=PART.cells, part=PART, luts=luts))
    found = design.estimates.values()
    assert sum(each.ram for each in found) <= MOST[name] < PART.capacity["ram"]
    assert sum(each.lut_sites for each in found) <= PART.capacity["lut_sites"]
    assert design.plan.dsp <= PART.capacity["dsp"]
    assert 100e6 / design.plan.image_cycles >= 1000
