"""Plans that a part cannot hold are refused before anything is built; those that it may hold are not."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import pytest

from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.design.network.estimate import LUT_ERROR, RAM_ERROR, REGISTER_ERROR
from systoliq.errors import InputError
from systoliq.synth import open_target

from ...hw.network import small_networks as small

PART = open_target("ecp5-25k")
WITHOUT_TABLES = open_target("nexus-40k")  # products have one form there


def design(part=PART, *, cells=None, **asked):
    return NetworkDesign(small.residual(), NetworkOptions(cells=cells or part.cells, part=part, **asked))


def having(part=PART, **capacity):
    return dataclasses.replace(part, capacity={**part.capacity, **capacity})


def test_more_multiplier_cells_than_there_are():
    plan = design(WITHOUT_TABLES, throughput=1e5).plan
    dsp = plan.dsp
    assert dsp > 4
    design(having(WITHOUT_TABLES, dsp=dsp), throughput=1e5)
    with pytest.raises(InputError) as refused:
        design(having(WITHOUT_TABLES, dsp=dsp - 1), throughput=1e5)
    assert str(refused.value) == (
        f"the plan does not fit {WITHOUT_TABLES.title}: it needs {dsp} multiplier cells{plan.share_of_lanes}, where "
        f"there are {dsp - 1}; ask for a throughput below 100000, or take a larger part"
    )


def test_a_throughput_takes_lookup_tables_where_multiplier_cells_are_too_few():
    all_in_cells = design(throughput=1e5).plan
    some_in_tables = design(having(dsp=all_in_cells.dsp - 1), throughput=1e5).plan
    assert some_in_tables.dsp < all_in_cells.dsp
    assert "ecp5-lut" in {stage.parallelism.cells for stage in some_in_tables.stages}
    assert (some_in_tables.image_cycles, some_in_tables.multipliers) == (
        all_in_cells.image_cycles,
        all_in_cells.multipliers,
    )
    in_pairs = design(having(dsp=all_in_cells.dsp - 1), throughput=1e5, cells="auto").plan
    assert "ecp5-pair" in {stage.parallelism.cells for stage in in_pairs.stages}
    with pytest.raises(InputError, match=r"about \d+ LUT sites where there are 900; ask for a throughput below 100000"):
        design(having(dsp=all_in_cells.dsp - 1, lut_sites=900), throughput=1e5)


def test_estimates_refuse_beyond_their_error(tmp_path):
    made = design(multipliers=20)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(made.stages))
    sites = sum(stage["lut_sites"] for stage in made.stages)
    blocks = sum(stage["ram"] for stage in made.stages)
    enough = having(lut_sites=int(sites / (1 + LUT_ERROR)) + 1, ram=max(blocks - RAM_ERROR * len(made.stages), 0))
    design(enough, plan=path)
    with pytest.raises(InputError, match=rf"it needs about {sites} LUT sites where there are 900; ask for fewer multi"):
        design(having(lut_sites=900), multipliers=20)
    with pytest.raises(
        InputError, match="about .* LUT sites where there are 1, and about .* blocks where there are -9"
    ):
        design(having(lut_sites=1, ram=-9), luts=5)


def test_registers_beyond_the_error_of_their_estimate(tmp_path):
    made = design(multipliers=20)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(made.stages))
    enough = int(sum(stage["registers"] for stage in made.stages) / (1 + REGISTER_ERROR)) + 1
    design(having(ff=enough), plan=path)
    with pytest.raises(InputError, match=rf"registers where there are {enough - 1}; take smaller cols or depth"):
        design(having(ff=enough - 1), plan=path)
    with pytest.raises(InputError, match=r"it needs about \d+ registers where there are 900; ask for fewer multi"):
        design(having(ff=900), multipliers=20)


def test_a_plan_of_ones_own(tmp_path):
    made = design(multipliers=28)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(made.stages))
    assert design(plan=path).stages == made.stages
    text = f"{made.plan.dsp} multiplier cells where there are 3; take smaller cols or depth in {path}"
    with pytest.raises(InputError, match=re.escape(text)):
        design(having(dsp=3), plan=path)


def test_products_of_portable_cells_may_be_logic():
    NetworkDesign(small.residual(), NetworkOptions(part=having(dsp=0), multipliers=200))


@pytest.mark.parametrize("dsp", [12, 156])
def test_as_many_images_a_second_as_the_part_can_compute(dsp):
    """No plan for a time, with its products in multiplier cells or in lookup tables, has more on three quarters of the
    part; with a quarter of the lookup tables it has fewer.
    """
    part = having(dsp=dsp)
    most = design(part, throughput=math.inf)

    def rate(one):
        return one.expected_clock.mhz / one.plan.image_cycles

    def fits(one):
        return sum(each.lut_sites for each in one.estimates.values()) <= 0.7 * part.capacity["lut_sites"]

    assert fits(most)
    assert most.plan.dsp <= dsp
    for luts in (0, 3000, 9000):
        other = design(part, multipliers=dsp, luts=luts)
        assert rate(other) <= rate(most) or not fits(other)
    assert rate(design(having(dsp=dsp, lut_sites=part.capacity["lut_sites"] // 4), throughput=math.inf)) < rate(most)
