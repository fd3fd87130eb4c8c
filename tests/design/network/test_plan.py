"""Plans of small networks: the quickest within a budget, the cheapest for a time, by trying all; plan files."""

from __future__ import annotations

import functools
import itertools
import json

import pytest

from systoliq.design.network.plan import plan_for_budget, plan_for_cycles, stages_of
from systoliq.design.network.plan_file import read_plan
from systoliq.errors import InputError
from systoliq.hw.network.operators import operator_of

from ...hw.network import small_networks as small

CELLS = "portable"


def net():
    return small.residual()


def narrow(node):
    """What a stage can be without several pixels of a window in a cycle, which only short times bring."""
    return [each for each in operator_of(node).choices() if not operator_of(node).is_wide(each)]


def test_fewest_multipliers_for_a_time():
    """No other choice of a stage that is quick enough takes fewer cells."""
    for cycles in (700, 300, 180):
        plan = plan_for_cycles(net(), cycles, cells=CELLS)
        assert plan.image_cycles <= cycles
        for stage in plan.stages:
            assert stage.image_cycles == operator_of(stage.node).image_cycles(stage.parallelism)
            enough = [each for each in narrow(stage.node) if operator_of(stage.node).image_cycles(each) <= cycles]
            assert stage.multipliers == min(operator_of(stage.node).multipliers(each) for each in enough)
        assert 0 < plan.utilization <= 1
        assert plan.parallelism == {stage.node.name: stage.parallelism for stage in plan.stages}


def test_fewest_cycles_for_a_budget():
    """One cycle less would not fit."""
    network = net()
    for budget in (60, 100, 200, 400):
        plan = plan_for_budget(network, budget, 0, cells=CELLS)
        assert plan.dsp <= budget
        slowest = max(min(operator_of(node).image_cycles(each) for each in narrow(node)) for node in stages_of(network))
        times = {operator_of(node).image_cycles(each) for node in stages_of(network) for each in narrow(node)}
        quicker = [time for time in times if slowest <= time < plan.image_cycles]
        assert all(plan_for_cycles(network, time, cells=CELLS).dsp > budget for time in quicker)


def test_a_network_without_products():
    """Nothing multiplies, so nothing is busy."""
    net = small.Builder((2, 3, 3))
    net.table()
    plan = plan_for_budget(net.network(), 10, 0, cells=CELLS)
    assert (plan.multipliers, plan.dsp, plan.utilization) == (0, 0, 0)
    assert plan.image_cycles == 9


@pytest.mark.parametrize(("dsp", "luts"), [(12, 0), (12, 600), (14, 100), (14, 400), (17, 1000), (28, 0)])
@pytest.mark.parametrize("pairs", [False, True])
def test_forms_of_products(dsp, luts, pairs):
    """Of all ways to make each stage's products, for the time that was found: the fewest sites of lookup tables, within
    both budgets; for the next shorter time there is no way.
    """
    plan = plan_for_budget(net(), dsp, luts, cells="ecp5", pairs=pairs)
    times = {operator_of(node).image_cycles(each) for node in stages_of(net()) for each in narrow(node)}
    shorter = max((time for time in times if time < plan.image_cycles), default=None)
    assert plan.dsp <= dsp
    taken = sum(SITES[stage.parallelism.cells] * stage.multipliers for stage in plan.stages)
    assert taken == min(fewest_sites(plan_for_cycles(net(), plan.image_cycles, cells="ecp5"), dsp, luts, pairs=pairs))
    slowest = max(min(operator_of(node).image_cycles(each) for each in narrow(node)) for node in stages_of(net()))
    if shorter is not None and shorter >= slowest:
        assert not fewest_sites(plan_for_cycles(net(), shorter, cells="ecp5"), dsp, luts, pairs=pairs)


@pytest.mark.parametrize("dsp", [8, 12, 20, 40])
def test_the_plan_with_the_most_images_a_second(dsp):
    """At a clock that falls with the multipliers: of all plans of up to a quarter more cycles, none has more."""
    builder = small.Builder((6, 5, 7))
    builder.convolution(12, (3, 3), pads=(1, 1, 1, 1))
    builder.convolution(10)
    several = builder.network()
    budget = functools.partial(plan_for_budget, several, dsp, 0, cells=CELLS)
    quickest = budget()
    times = {operator_of(node).image_cycles(each) for node in stages_of(several) for each in narrow(node)}
    near = [time for time in times if quickest.image_cycles <= time <= 1.25 * quickest.image_cycles]
    plans = [plan_for_cycles(several, time, cells=CELLS) for time in near]
    assert budget(mhz=lambda plan: 100.0) == quickest
    for loss in (0.01, 0.03, 0.1, 1):

        def mhz(plan, loss=loss):
            return 100 / (1 + loss * plan.multipliers)

        chosen = budget(mhz=mhz)
        assert mhz(chosen) / chosen.image_cycles == max(mhz(plan) / plan.image_cycles for plan in plans)


SITES = {"": 0, "ecp5-pair": 26, "ecp5-lut": 100}  # docs/silicon.md: of a product, more than with a multiplier


def fewest_sites(plan, dsp, luts, *, pairs):
    """Sites of every way to make the products of the plan's stages that is within both budgets."""
    ways = []
    for stage in plan.stages:
        cols, depth = stage.parallelism.cols, stage.parallelism.depth
        operator = operator_of(stage.node)
        row_sums = int(operator.needs_row_sums)
        forms = [(stage.dsp, 0)]
        if stage.dsp:
            forms.append((0, 100 * stage.multipliers))
        if pairs and operator.is_product and cols > 1:
            forms.append((-(-(cols + row_sums) // 2) * depth, 26 * stage.multipliers))
        ways.append(forms)
    sums = [tuple(map(sum, zip(*way, strict=True))) for way in itertools.product(*ways)]
    return [sites for cells, sites in sums if cells <= dsp and sites <= luts]


def test_pairs_are_chosen_where_they_help():
    """More products in as many cells, with the rest in lookup tables; none where cells are enough."""
    few, many = (plan_for_budget(net(), dsp, 300, cells="ecp5", pairs=True) for dsp in (13, 300))
    assert "ecp5-pair" in {stage.parallelism.cells for stage in few.stages}
    assert {stage.parallelism.cells for stage in many.stages} == {""}
    assert few.image_cycles < plan_for_budget(net(), 13, 300, cells="ecp5").image_cycles


def test_several_pixels_at_a_time_where_nothing_else_is_enough():
    network = net()
    usual = max(min(operator_of(node).image_cycles(each) for each in narrow(node)) for node in stages_of(network))
    plan = plan_for_cycles(network, usual - 1, cells=CELLS)
    assert plan.image_cycles < usual
    for stage in plan.stages:
        possible = [each for each in narrow(stage.node) if operator_of(stage.node).image_cycles(each) < usual]
        wide = operator_of(stage.node).is_wide(stage.parallelism)
        assert wide == (not possible)
        possible = possible or [
            each for each in operator_of(stage.node).choices() if operator_of(stage.node).image_cycles(each) < usual
        ]
        assert stage.multipliers == min(operator_of(stage.node).multipliers(each) for each in possible)
    assert any(operator_of(stage.node).is_wide(stage.parallelism) for stage in plan.stages)


def test_what_cannot_be_planned():
    network = net()
    operators = [operator_of(node) for node in stages_of(network)]
    least = max(min(each.image_cycles(choice) for choice in each.choices()) for each in operators)
    plan_for_cycles(network, least, cells=CELLS)
    with pytest.raises(InputError, match=f"an image must have at least {least} cycles for node .*, not {least - 1}"):
        plan_for_cycles(network, least - 1, cells=CELLS)
    with pytest.raises(InputError, match=r"at least \d+ for 5 stages, 6 of them for requantizers and row sums, not 1"):
        plan_for_budget(network, 1, 0, cells=CELLS)


def test_file_is_written_and_read_again(tmp_path):
    network = net()
    plan = plan_for_cycles(network, 300, cells=CELLS)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan.as_json()))
    again = read_plan(network, path, cells=CELLS)
    assert again == plan
    assert again.as_json() == plan.as_json()
    shares = [stage["share_of_slowest"] for stage in plan.as_json()]
    assert max(shares) == 1


GOOD = [
    {"node": name, "cols": 1, "depth": 1}
    for name in ("convolution0", "convolution1", "addition2", "maxpool3", "dense5")
]


def without(key):
    return [{name: value for name, value in stage.items() if name != key} for stage in GOOD]


def changed(**fields):
    return [{**GOOD[0], **fields}, *GOOD[1:]]


BAD = {
    "no JSON": (b"[", "must be a JSON list of objects with node, cols and depth"),
    "no text": (b"\xff\xfe", "must be a JSON list of objects"),
    "a number": (5, "must be a JSON list of objects"),
    "an object": (GOOD[0], "must be a JSON list of objects"),
    "a list of words": (["convolution0"], "must be a JSON list of objects"),
    "no node": (without("node"), "must be a JSON list of objects .*'node'"),
    "no cols": (without("cols"), "must be a JSON list of objects .*'cols'"),
    "no depth": (without("depth"), "must be a JSON list of objects .*'depth'"),
    "cols 0": (changed(cols=0), "cols must be a positive integer, not 0"),
    "cols of text": (changed(cols="2"), "cols must be a positive integer, not '2'"),
    "depth of a half": (changed(depth=0.5), "depth must be a positive integer, not 0.5"),
    "unknown": ([*GOOD, {"node": "x", "cols": 1, "depth": 1}], "must name each stage once; unknown: x"),
    "missing": (GOOD[1:], "must name each stage once; missing: convolution0"),
    "twice": ([*GOOD, GOOD[0]], "must name each stage once; twice: convolution0"),
    "too many cols": (changed(cols=99), "cols of node 'convolution0' must be one of 1, 2, 3, 4, not 99"),
    "no divisor": (changed(depth=3), "depth of node 'convolution0' must be one of 1, 2, 6, 18, not 3"),
    "cells": (changed(cells="asic"), "cells"),
    "cells that are a list": (changed(cells=["ecp5"]), "cells"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_files(bad, tmp_path):
    content, text = BAD[bad]
    path = tmp_path / "plan.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(InputError, match=text) as caught:
        read_plan(net(), path, cells=CELLS)
    assert str(caught.value).startswith(f"plan {path}: ")


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"plan cannot be read: .*none.json: there is no such file"):
        read_plan(net(), tmp_path / "none.json", cells=CELLS)
    with pytest.raises(InputError, match=r"plan cannot be read: .*: must be a regular file"):
        read_plan(net(), tmp_path, cells=CELLS)


def test_every_choice_is_one_that_a_file_may_ask_for(tmp_path):
    network = net()
    convolution = stages_of(network)[0]
    path = tmp_path / "plan.json"
    for each in itertools.islice(narrow(convolution), 6):
        path.write_text(json.dumps(changed(cols=each.cols, depth=each.depth)))
        assert read_plan(network, path, cells=CELLS).stages[0].parallelism == each


def test_a_plan_that_fits_may_lie_beyond_one_that_does_not():
    """Plans in the order of their cycles: the first that fits is taken; where none does, the smallest of all."""
    quick = plan_for_budget(net(), 60, 0, cells=CELLS)
    seen = []

    def mhz(plan):
        seen.append(plan.image_cycles)
        return 100.0 if len(seen) == 3 else 0.0

    third = plan_for_budget(net(), 60, 0, cells=CELLS, mhz=mhz)
    assert seen == sorted(seen)
    assert quick.image_cycles == seen[0] < seen[2] == third.image_cycles
    smallest = plan_for_budget(net(), 60, 0, cells=CELLS, mhz=lambda plan: 0.0)
    assert smallest.multipliers <= min(third.multipliers, quick.multipliers)
