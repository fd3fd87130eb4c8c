"""Every plan of a small layer through synthesis: none is smaller than what estimates choose, but for a few percent."""

from __future__ import annotations

import pytest
from explore_fakes import small_layer

from systoliq.build.design.hardware import AUTO_CELLS, Hardware
from systoliq.build.design.layer.auto import choices_of_layer
from systoliq.build.design.network.plan import Plan
from systoliq.build.explore.question.designs import design_of_json
from systoliq.build.explore.question.options import Option, smallest, times_of
from systoliq.build.synth.flow import synthesized
from systoliq.build.synth.targets import TARGETS
from systoliq.build.synth.yosys import cell_figures

TOLERANCE = 1.07  # measured: 1.06
PART = TARGETS["ecp5-25k"]


def sites(layer, option):
    """LUT sites of the plan's netlist."""
    plan = Plan(stages=(option.stage,)).as_json()
    design = design_of_json(layer, plan, PART.name)
    return cell_figures(synthesized(design.verilog, design.name, PART))["lut_sites"]


@pytest.mark.slow
def test_nothing_smaller_is_as_quick():
    """With one form of products; each time that there is, against all plans that take no more."""
    layer = small_layer()
    found = [
        each for each in choices_of_layer(layer, Hardware(cells=AUTO_CELLS, part=PART)) if each.cells == PART.cells
    ]
    every = [
        Option(stage=each.stage, lut_sites=each.estimate.lut_sites, ram=each.estimate.ram)
        for each in found
        if each.stage.dsp <= PART.capacity["dsp"]
    ]
    assert len(every) == 21
    measured = {id(option): sites(layer, option) for option in every}
    for cycles in times_of([every]):
        (chosen,) = smallest([every], cycles, {"dsp": PART.capacity["dsp"]}, "area").options
        least = min(measured[id(option)] for option in every if option.stage.image_cycles <= cycles)
        assert measured[id(chosen)] <= TOLERANCE * least, cycles
