"""Plans of small networks: the quickest within a budget, the cheapest for a time, by trying all; plan files."""

from __future__ import annotations

import itertools
import json

import pytest

from systoliq.build.design.network.plan import plan_for_budget, plan_for_cycles, read_plan, stages_of
from systoliq.build.errors import InputError
from systoliq.hw.network import rate

from ...hw.network import small_networks as small

CELLS = "portable"


def net():
    return small.residual()


def test_fewest_multipliers_for_a_time():
    """No other choice of a stage that is quick enough takes fewer cells."""
    for cycles in (700, 300, 180):
        plan = plan_for_cycles(net(), cycles, cells=CELLS)
        assert plan.image_cycles <= cycles
        for stage in plan.stages:
            assert stage.image_cycles == rate.image_cycles(stage.node, stage.parallelism)
            enough = [each for each in rate.choices(stage.node) if rate.image_cycles(stage.node, each) <= cycles]
            assert stage.multipliers == min(rate.multipliers(stage.node, each) for each in enough)
        assert 0 < plan.utilization <= 1
        assert plan.parallelism == {stage.node.name: stage.parallelism for stage in plan.stages}


def test_fewest_cycles_for_a_budget():
    """One cycle less would not fit."""
    network = net()
    for budget in (60, 100, 200, 400):
        plan = plan_for_budget(network, budget, 0, cells=CELLS)
        assert plan.dsp <= budget
        slowest = max(min(rate.image_cycles(node, each) for each in rate.choices(node)) for node in stages_of(network))
        times = {rate.image_cycles(node, each) for node in stages_of(network) for each in rate.choices(node)}
        quicker = [time for time in times if slowest <= time < plan.image_cycles]
        assert all(plan_for_cycles(network, time, cells=CELLS).dsp > budget for time in quicker)


def test_a_network_without_products():
    """Nothing multiplies, so nothing is busy."""
    net = small.Builder((2, 3, 3))
    net.table()
    plan = plan_for_budget(net.network(), 10, 0, cells=CELLS)
    assert (plan.multipliers, plan.dsp, plan.utilization) == (0, 0, 0)
    assert plan.image_cycles == 9


def test_what_cannot_be_planned():
    network = net()
    least = max(min(rate.image_cycles(node, each) for each in rate.choices(node)) for node in stages_of(network))
    plan_for_cycles(network, least, cells=CELLS)
    with pytest.raises(InputError, match=f"an image must have at least {least} cycles for node .*, not {least - 1}"):
        plan_for_cycles(network, least - 1, cells=CELLS)
    with pytest.raises(InputError, match=r"multipliers must be at least \d+ for 5 stages, not 1"):
        plan_for_budget(network, 1, 0, cells=CELLS)


def test_file_goes_round(tmp_path):
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
    "no divisor": (changed(depth=3), "depth of node 'convolution0' must be one of 1, 2, not 3"),
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
    with pytest.raises(InputError, match=r"plan .*none.json: cannot be read \(No such file or directory\)"):
        read_plan(net(), tmp_path / "none.json", cells=CELLS)
    with pytest.raises(InputError, match="cannot be read"):
        read_plan(net(), tmp_path, cells=CELLS)


def test_every_choice_is_one_that_a_file_may_ask_for(tmp_path):
    network = net()
    convolution = stages_of(network)[0]
    path = tmp_path / "plan.json"
    for each in itertools.islice(rate.choices(convolution), 6):
        path.write_text(json.dumps(changed(cols=each.cols, depth=each.depth)))
        assert read_plan(network, path, cells=CELLS).stages[0].parallelism == each
