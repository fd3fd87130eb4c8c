"""Plans whose stages have other cells than their network: every stage and set of cells of one family, and no others."""

from __future__ import annotations

import json

import pytest

from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.design.network.plan import stages_of
from systoliq.errors import InputError
from systoliq.hw.cells import CELLS, family, model_files

from ...hw.network import small_networks as small


def net():
    """Stages that are alike but for their cells: two tables, a sum, a product of elements, channels side by side."""
    made = small.Builder((2, 2, 2))
    x = made.table()
    made.table()
    made.add(made.last, x)
    made.multiply(made.last, x)
    made.concat(made.last, x)
    return made.network()


def design(path, cells, chosen):
    """With `chosen` cells for each stage in turn."""
    path.write_text(
        json.dumps(
            [
                {"node": node.name, "cols": 1, "depth": 1, "cells": chosen[index % len(chosen)]}
                for index, node in enumerate(stages_of(net()))
            ]
        )
    )
    return NetworkDesign(net(), NetworkOptions(cells=cells, plan=path))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("cells", CELLS)
def test_each_stage_has_each_set_of_cells_of_the_family(cells, tmp_path):
    """Under blocks of one name, two stages beside each other have other memories."""
    suitable = [each for each in CELLS if family(each) in ("", family(cells))]
    for first in range(0, len(suitable), 3):
        chosen = ["", *(suitable[first:] + suitable[:first])[:4]]
        made = design(tmp_path / "plan.json", cells, chosen)
        assert [stage["cells"] for stage in made.stages] == (chosen * 3)[:5]
        assert made.verilog.count(f"module {made.name}(") == 1
        for used in {cells, *chosen[:5]} - {""}:
            assert all(path.stem.upper() in made.models for path in model_files(used))


@pytest.mark.parametrize("cells", CELLS)
def test_cells_of_another_family_are_refused(cells, tmp_path):
    for other in CELLS:
        if family(other) in ("", family(cells)):
            continue
        with pytest.raises(InputError, match=f"^plan .*: cells of node 'table0' must be one of .* not '{other}': "):
            design(tmp_path / "plan.json", cells, [other, ""])


def test_products_of_elements_in_lookup_tables():
    """A budget of lookup tables gives a stage other cells, too: beside others with its FIFO."""
    twice = small.Builder((2, 2, 2))
    x = twice.table()
    twice.multiply(twice.table(), x)
    twice.multiply(twice.last, x)
    made = NetworkDesign(twice.network(), NetworkOptions(cells="ecp5", multipliers=1, luts=1000))
    assert {stage["cells"] for stage in made.stages} == {"", "ecp5-lut"}
    assert made.verilog.count(f"module {made.name}(") == 1


def test_families():
    assert {family(cells) for cells in CELLS} == {"", "ecp5", "ice40", "gowin", "nexus", "dsp48e2"}
    assert family("ecp5-pair") == "ecp5"
    assert family("xilinx") == ""
