"""Plans for a latency: it is that of the RTL, that of a plan for a rate is higher, and no smaller stage keeps it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from systoliq.api import InputError, NetworkDesign, NetworkOptions
from systoliq.design.choose import choose_requantization
from systoliq.design.digits_cnn import digits_cnn
from systoliq.design.network.plan import Plan, plan_of, stages_of
from systoliq.hw.network.assembly import assemble
from systoliq.hw.network.operators import operator_of

from ...support.simulators import icarus_first

NET = digits_cnn()[0]
BOUND = 10.0  # microseconds at 100 MHz


def planned(**options: Any) -> NetworkDesign:
    return NetworkDesign(NET, NetworkOptions(cells="ecp5", part="ecp5-85k", **options))


def last_result(plan: Plan) -> int:
    """Cycles from the first beat of an image to its last result."""
    found = assemble(
        NET, plan.parallelism, cells="ecp5", lane_cells="ecp5-lut",
        requantize=lambda layer: choose_requantization(layer, "near-tie").requantization,
    )  # fmt: skip
    return found.latency["y"].last


@icarus_first
def test_a_bound_holds_in_rtl_and_no_smaller_stage_keeps_it(simulator: str) -> None:
    design = planned(latency=BOUND)
    (source,) = NET.sources
    images = np.random.default_rng(3).integers(0, 17, (1, 1, 8, 8)).astype(np.float32)
    run = design.simulate({source.name: images}, simulator=simulator)
    assert run.passed
    assert run.report["cycles"] == last_result(design.plan) + 1 <= 100 * BOUND + 1  # both ends count
    smaller = 0
    for stage in design.plan.stages:
        fewer = [each for each in _all(stage.node) if each.multipliers < stage.multipliers]
        for each in sorted(fewer, key=lambda each: each.image_cycles)[:2]:  # the quickest of them
            changed = {**design.plan.parallelism, stage.node.name: each.parallelism}
            assert last_result(plan_of(NET, changed, cells="ecp5")) > 100 * BOUND
            smaller += 1
    assert smaller == 6


def _all(node: Any) -> list[Any]:
    first = {other.name: next(iter(operator_of(other).choices())) for other in stages_of(NET)}
    plans = [plan_of(NET, {**first, node.name: each}, cells="ecp5") for each in operator_of(node).choices()]
    return [stage for plan in plans for stage in plan.stages if stage.node is node]


@pytest.mark.slow
def test_the_lowest_is_lower_than_that_of_the_highest_rate() -> None:
    lowest, quickest = planned(latency=0), planned(throughput=math.inf)
    assert lowest.speed.microseconds < 0.9 * quickest.speed.microseconds
    assert lowest.plan.dsp <= 156
    assert f", about {last_result(lowest.plan) / lowest.speed.mhz:.1f} at the expected clock" in lowest.choices[1]
    at_100 = last_result(lowest.plan) / 100
    assert planned(latency=at_100 + 0.01).plan.multipliers <= lowest.plan.multipliers
    with pytest.raises(InputError, match=r"latency must be at least 2\.0 microseconds at 100 MHz on ecp5-85k"):
        planned(latency=at_100 / 2)
