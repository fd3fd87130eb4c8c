"""ResNet8: the planner's own plans against the front of the question, within their budgets, by the same estimates."""

from __future__ import annotations

import pytest

from systoliq.design.network.estimate import estimate
from systoliq.design.network.plan import plan_for_budget
from systoliq.explore.question.ask import ask
from systoliq.onnx import read_network


@pytest.mark.slow
@pytest.mark.parametrize("luts", [3000, 20_000])
def test_the_plan_of_whole_networks_is_on_the_front_or_beaten(luts, shared):
    """docs/measurements/networks.md places those of `--luts 3000` and 20000: no larger, no slower ones are found."""
    net = read_network(shared / "data" / "mlperf_resnet8_qdq.onnx")
    plan = plan_for_budget(net, 156, luts, cells="ecp5")
    sizes = [estimate(stage.node, stage.parallelism, "ecp5") for stage in plan.stages]
    area, ram = (sum(getattr(each, name) for each in sizes) for name in ("lut_sites", "ram"))
    limits = {"area": area, "dsp": plan.dsp, "ram": ram}
    quickest = min(each.image_cycles for each in ask(net, require=limits).candidates)
    assert quickest <= plan.image_cycles
