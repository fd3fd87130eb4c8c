"""Plans through synthesis: none is smaller than what estimates choose, but for 3 % of a very small layer."""

from __future__ import annotations

from itertools import zip_longest

import pytest
from digits_mlp import write_mlp
from explore_fakes import small_layer

from systoliq.design import LayerOptions
from systoliq.design.choose import AUTO
from systoliq.design.layer.auto import choices_of_layer
from systoliq.design.network.estimate import estimate
from systoliq.design.network.plan import Plan, forms_of_stage, stages_of
from systoliq.design.sources import open_network
from systoliq.explore.question.ask import ask
from systoliq.explore.question.designs import design_of_json
from systoliq.explore.question.options import Option, smallest, times_of
from systoliq.synth.flow import synthesized
from systoliq.synth.parts import figures_of_parts
from systoliq.synth.targets import TARGETS
from systoliq.synth.yosys import cell_figures

TOLERANCE = 1.031  # measured: 1.0303, one product against two in a cycle
PART = TARGETS["ecp5-25k"]


def sites(subject, stages, part=PART):
    """LUT sites of the plan's netlist."""
    design = design_of_json(subject, Plan(stages=tuple(stages)).as_json(), part.name)
    return cell_figures(synthesized(design.verilog, design.name, part))["lut_sites"]


@pytest.mark.slow
def test_nothing_smaller_is_as_quick():
    """With one form of products; each time that there is, against all plans that take no more."""
    layer = small_layer()
    found = [each for each in choices_of_layer(layer, LayerOptions(cells=AUTO, part=PART)) if each.cells == PART.cells]
    every = [
        Option(stage=each.stage, lut_sites=each.estimate.lut_sites, ram=each.estimate.ram)
        for each in found
        if each.stage.dsp <= PART.capacity["dsp"]
    ]
    assert len(every) == 21
    measured = {id(option): sites(layer, [option.stage]) for option in every}
    for cycles in times_of([every]):
        (chosen,) = smallest([every], cycles, {"dsp": PART.capacity["dsp"]}, "area").options
        least = min(measured[id(option)] for option in every if option.stage.image_cycles <= cycles)
        assert measured[id(chosen)] <= TOLERANCE * least, cycles


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits-cnn", "64-32-16-10"])
def test_no_plan_that_differs_in_a_stage_is_smaller(name, tmp_path):
    """For a million images a second: every other form of a stage that is as quick, but for those whose estimate is far
    above that of the form that was chosen. A netlist has another form of each stage.
    """
    part = TARGETS["ecp5-85k"]
    net, _ = open_network(name if name == "digits-cnn" else str(write_mlp(tmp_path)[0]))
    chosen = ask(net, target=part.name, require="throughput=1e6").chosen
    nodes, plan = stages_of(net), [option.stage for option in chosen.sized.options]
    least, smaller = sites_of_stages(net, plan, part), {}
    others = [as_quick(node, stage, chosen.image_cycles, part) for node, stage in zip(nodes, plan, strict=True)]
    for forms in zip_longest(*others):
        found = sites_of_stages(net, [form or stage for form, stage in zip(forms, plan, strict=True)], part)
        for node, form in zip(nodes, forms, strict=True):
            if form and found[node.name] < least[node.name]:
                smaller[node.name, form.parallelism] = found[node.name]
    assert smaller == {}, least


def as_quick(node, stage, cycles, part):
    most = 1.3 * estimate(node, stage.parallelism, part.cells).lut_sites
    for form in forms_of_stage(node, part.cells):
        if form != stage and form.image_cycles <= cycles:
            found = estimate(node, form.parallelism, part.cells).lut_sites
            if found <= most:
                yield form


def sites_of_stages(net, stages, part):
    """LUT sites of each stage in the plan's netlist."""
    design = design_of_json(net, Plan(stages=tuple(stages)).as_json(), part.name)
    parts = figures_of_parts(synthesized(design.verilog, design.name, part), design.part_of)
    return {name: figures["lut_sites"] for name, figures in parts.items()}
