"""Objects that show themselves in notebooks: `_repr_html_` is well-formed, escaped, and says what the text says."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from systoliq import api
from systoliq.deploy import StageReport
from systoliq.design.sources import resnet8_fc_layer
from systoliq.inference.report import InferenceReport, OutputReport, StepReport

from .hw.network.small_networks import Builder
from .support.results import simulated

BAD = "<script>&\"'"
LAYER = resnet8_fc_layer()[0].replace(name=BAD)


def network():
    net = Builder((2, 2, 2))
    net.table()
    return net.network()


def objects():
    net = network()
    fc = {"name": "fc", "operator": "QGemm", "shapes": ((1, 2, 3),), "outputs": 3, "jobs": 1, "cycles": 1234,
          "bytes": {}, "seconds": 1.0, "multiply_accumulates": 6, "utilization": 0.25,
          "golden_mismatches": 2}  # fmt: skip
    stage = StageReport(name=BAD, operator="Dense", busy=75, waiting=25)
    return {
        "layer": (LAYER, ["64", "int8", "0.1903"]),
        "network": (net, ["Table", "1 x 2 x 2 x 2"]),
        "layer design": (api.LayerDesign(LAYER, api.LayerOptions(cols=5), name="fc"), ["cols", "5", "layer"]),
        "network design": (api.NetworkDesign(net), ["Table", "cols x depth", "all"]),
        "engine": (api.EngineDesign(), ["engine"]),
        "plan": (api.NetworkDesign(net).plan, ["Table", "100%"]),
        "result": (simulated(np.zeros((3, 2), np.int8), wrong=3),
                   ["mismatches", "3"]),
        "synthesis": (api.SynthReport(name="fc", target="ecp5-25k", cells="ecp5", macs_per_cycle=1, lut_sites=17, ff=1,
                                      dsp=1, ram=1, carries=1, fmax_mhz_per_seed=(99.5,)), ["17", "99.5"]),
        "inference": (InferenceReport(steps=(StepReport(**fc),), host={},
                                      outputs={"y": OutputReport(elements=3, mismatches=0)}), ["1,234", "25.0%"]),
        "session": (api.NetworkReport(on="golden", images=1, cycles=100, measured=False, stages=(stage,), compared=0,
                                      golden_mismatches=0, onnxruntime_mismatches=0, outputs={}), ["75%", "25"]),
    }  # fmt: skip


@pytest.mark.parametrize("name", objects())
def test_an_object_shows_itself(name):
    made, wanted = objects()[name]
    html = made._repr_html_()
    assert "<script>" not in html
    root = ElementTree.fromstring(html)
    cells = [cell.text or "" for cell in root.iter() if cell.tag in ("td", "th")]
    assert root.find("p/b").text == repr(made)
    for text in wanted:
        assert any(text in cell for cell in cells), text
    widths = {len(row) for row in root.iter("tr")}
    assert len(widths) == 1
