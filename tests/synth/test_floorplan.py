"""The floorplan of an array's multipliers: who lies where, where there is none, and whether nextpnr knows the sites."""

from __future__ import annotations

import importlib.util
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.synth.floorplan import floorplan, floorplan_line, floorplan_script, memories_near
from systoliq.synth.targets import open_target
from systoliq.synth.tools import find_nextpnr, find_yosys

SITES = open_target("ecp5-85k").block_sites
assert SITES is not None
needs_synth = pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed")


def array(rows: int, cols: int, *, name: str = "top.array", depth: int = 1) -> list[str]:
    """Names of the multipliers of an array, not in their order."""
    of = [(column, row, each) for row in range(rows) for each in range(depth) for column in range(cols)]
    return [f"{name}.column_{column}.pe_{row}.mac.multiplier_{each}.cell_" for column, row, each in of]


def place(site: str) -> tuple[int, int]:
    """X and Y of a site."""
    match = re.fullmatch(r"X(\d+)/Y(\d+)/(MULT18_|EBR)\d", site)
    assert match is not None
    return int(match[1]), int(match[2])


@pytest.mark.parametrize(("rows", "cols", "depth"), [(12, 12, 1), (8, 8, 1), (1, 10, 8), (4, 4, 8), (53, 1, 1)])
def test_columns_are_strips_side_by_side(rows: int, cols: int, depth: int) -> None:
    plan = floorplan(array(rows, cols, depth=depth), [], SITES)
    assert len(set(plan.values())) == len(plan) == rows * cols * depth
    strips = [[place(plan[name]) for name in plan if f".column_{column}." in name] for column in range(cols)]
    for left, right in pairwise(strips):
        assert max(x for x, _ in left) < min(x for x, _ in right)
    for strip in strips:  # elements go down
        assert [y for _, y in strip] == sorted(y for _, y in strip)


def test_other_multipliers_follow_to_the_right() -> None:
    others = [f"top.lane_{lane}.requantizer.multiplier.multiplier_{each}.cell_" for lane in (0, 1) for each in range(4)]
    plan = floorplan([*others, *array(1, 10, depth=8)], [], SITES)
    assert len(set(plan.values())) == 88
    right = max(place(plan[name])[0] for name in array(1, 10, depth=8))
    assert all(place(plan[name])[0] > right for name in others)


def test_others_fill_free_sites() -> None:
    others = [f"top.other_{index}.cell_" for index in range(12)]
    plan = floorplan([*array(12, 12), *others], [], SITES)
    assert len(set(plan.values())) == 156


def test_stages_of_a_network_are_strips_in_their_order() -> None:
    """Stages 2, 10 and 11 have arrays; stage 3 has memory blocks alone, and a FIFO is before stage 10."""
    arrays = {stage: array(1, 8, name=f"top.pipeline.s{stage}_conv.dense.array", depth=4) for stage in (2, 10, 11)}
    memories = [f"top.pipeline.s{stage}_add.ram.slice_{each}" for stage in (2, 3, 10, 11) for each in range(12)]
    fifos = [f"top.pipeline.fifo_s10_add_0.ram.slice_{each}" for each in range(4)]
    names = [name for array_names in arrays.values() for name in array_names]
    plan = floorplan(reversed(names), [*memories, *fifos], SITES)
    assert plan.keys() == {*names, *memories, *fifos}
    assert len(set(plan.values())) == len(plan)
    strips = {stage: [place(plan[name])[0] for name in array_names] for stage, array_names in arrays.items()}
    for before, after in pairwise(strips.values()):
        assert max(before) <= min(after) + 9  # they may share a group
    near = {
        stage: [place(plan[name]) for name in [*memories, *fifos] if f"s{stage}_" in name] for stage in (2, 3, 10, 11)
    }
    for stage, strip in strips.items():
        assert min(strip) - 9 <= sum(x for x, _ in near[stage]) / len(near[stage]) <= max(strip) + 9
    for places in near.values():  # in a row of the part, or in two next to each other
        assert all(abs(x - left) + abs(y - top) <= 48 for x, y in places for left, top in places)
    assert sum(strips[2]) / 32 < sum(x for x, _ in near[3]) / 12 < sum(strips[10]) / 32
    assert floorplan_line(plan) == "96 multipliers and 52 memory blocks, the stages are strips from left to right"


def test_memory_blocks_of_a_stage_lie_together_where_others_took_the_middle() -> None:
    """The blocks of a small stage are neighbours, even if large stages took the sites around the same place."""
    names = array(1, 14, name="top.pipeline.s0_conv.dense.array", depth=4)
    names += array(1, 4, name="top.pipeline.s1_conv.dense.array", depth=4)
    counts = {1: 30, 2: 40, 3: 4, 4: 60, 5: 4}
    memories = [f"top.pipeline.s{stage}_conv.ram.slice_{each}" for stage in counts for each in range(counts[stage])]
    plan = floorplan(names, memories, SITES)
    for stage in (3, 5):
        places = [place(plan[name]) for name in memories if f"s{stage}_" in name]
        assert all(abs(x - left) + abs(y - top) <= 12 for x, y in places for left, top in places)


def placed_cell(kind: str, bel: str, *nets: int) -> dict[str, object]:
    """A cell of a placed netlist, with a pin at each of the `nets`."""
    return {"type": kind, "attributes": {"NEXTPNR_BEL": bel}, "connections": {f"P{net}": [net] for net in nets}}


def test_memory_blocks_lie_together_near_their_cells() -> None:
    """Each of two memories has registers of its own, far from the other's. Those that share its clock do not count."""
    middles = {"a": (100, 70), "b": (10, 20)}
    cells = {f"other_{each}": placed_cell("FF", f"X60/Y{each % 90}/FF{each}", 0) for each in range(400)}
    memories = [f"top.read_{name}.ram.slice_{36 * each}.cell_" for name in middles for each in range(5)]
    for net, block in enumerate(memories, 1):
        x, y = middles[block[len("top.read_")]]
        cells[block] = placed_cell("DP16KD", "X4/Y46/EBR0", 0, net)
        cells |= {f"{block}_{each}": placed_cell("FF", f"X{x + each}/Y{y - each}/FF0", net) for each in range(3)}
    plan = memories_near({"modules": {"top": {"cells": cells}}}, memories, SITES)
    assert plan.keys() == {*memories}
    assert len(set(plan.values())) == len(memories)
    assert {*plan.values()} <= {*SITES.memories.values()}
    for block, site in plan.items():
        x, y = middles[block[len("top.read_")]]
        assert abs(place(site)[0] - x) + abs(place(site)[1] - y) <= 15
    line = floorplan_line(floorplan(array(12, 12), [], SITES) | plan)
    assert (
        line
        == "144 multipliers, the columns of the array are strips from left to right; 10 memory blocks near their cells"
    )


def test_a_memory_without_a_cell_near_it_gets_a_site() -> None:
    cells = {"ram": placed_cell("DP16KD", "X4/Y46/EBR0", 0)}
    plan = memories_near({"modules": {"top": {"cells": cells}}}, ["ram"], SITES)
    assert {*plan.values()} <= {*SITES.memories.values()}


@pytest.mark.parametrize(
    ("multipliers", "target"),
    [
        (array(4, 13), "ecp5-85k"),  # no more than a row of the part
        (array(4, 7), "ecp5-25k"),
        (array(5, 8), "generic"),
        (array(4, 4, name="top.s0_a.array") + array(4, 8, name="top.s1_b.array"), "ecp5-85k"),
        (array(10, 8, name="top.s0_a.array") + array(10, 8, name="top.s1_b.array"), "ecp5-85k"),  # 160 of 156
        ([f"top.other_{index}.cell_" for index in range(100)], "ecp5-85k"),
        (array(1, 53), "ecp5-85k"),  # 53 strips, 52 sites
    ],
)
def test_none_where_the_placer_does_as_well(multipliers: list[str], target: str) -> None:
    assert floorplan(multipliers, [], open_target(target).block_sites) == {}


def every_multiplier(count: int) -> str:
    """Verilog of `count` multipliers and nothing else that matters."""
    lines = ["module top(input clk, input [17:0] a, output reg y);", f"wire [{36 * count - 1}:0] p; reg [17:0] r;"]
    lines.append("always @(posedge clk) begin r <= a; y <= ^p; end")
    for index in range(count):
        pins = [f".A{bit}(r[{bit}]), .B{bit}(r[{(bit + index) % 18}])" for bit in range(18)]
        pins += [f".P{bit}(p[{36 * index + bit}])" for bit in range(36)]
        lines.append(f"MULT18X18D m{index} ({', '.join(pins)}, .CLK0(clk), .CE0(1'b1), .RST0(1'b0));")
    return "\n".join([*lines, "endmodule"])


@needs_synth
@pytest.mark.slow
@pytest.mark.parametrize("name", ["ecp5-25k", "ecp5-45k", "ecp5-85k"])
def test_sites_are_those_that_nextpnr_knows(tmp_path: Path, name: str) -> None:
    """A design that takes all multipliers and memory blocks of a part, placed without a floorplan: its sites are those
    of the table.
    """
    target = open_target(name)
    sites = target.block_sites
    assert sites is not None
    kinds = {"MULT18X18D": target.capacity["dsp"], "DP16KD": target.capacity["ram"]}
    empty: dict[str, object] = {"parameters": {}, "attributes": {}, "port_directions": {}, "connections": {}}
    cells = {f"{kind}_{each}": {"type": kind, **empty} for kind, count in kinds.items() for each in range(count)}
    top = {"attributes": {"top": "1"}, "ports": {}, "cells": cells, "netnames": {}}
    (tmp_path / "n.json").write_text(json.dumps({"modules": {"top": top}}))
    flags = ["--no-route", "--timing-allow-fail", "-q", "--json", "n.json", "--write", "placed.json"]
    done = find_nextpnr("ecp5").run(*target.place, *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (placed,) = json.loads((tmp_path / "placed.json").read_text())["modules"].values()
    used = {cell["attributes"]["NEXTPNR_BEL"] for cell in placed["cells"].values()}
    multipliers = {sites.name(column, row) for column in range(len(sites.columns)) for row in range(len(sites.rows))}
    assert used == multipliers | {*sites.memories.values()}


@needs_synth
@pytest.mark.slow
def test_synth_keeps_to_the_floorplan_and_writes_it(tmp_path: Path) -> None:
    options = ["--rows", 1, "--cols", 7, "--depth", 8, "--cells", "ecp5", "--seeds", 1, "--target", "ecp5-85k"]
    files = ["--floorplan", tmp_path / "f.ys", "--report", tmp_path / "r.json"]
    result = CliRunner().invoke(cli, [str(word) for word in ["synth", "array", *options, *files]])
    assert result.exit_code == 0, result.output
    assert "56 multipliers, the columns of the array are strips from left to right" in result.output
    plan = json.loads((tmp_path / "r.json").read_text())["floorplan"]
    assert len(plan) == 56
    assert (tmp_path / "f.ys").read_text() == floorplan_script(plan)


@needs_synth
@pytest.mark.slow
def test_yosys_and_nextpnr_take_the_script(tmp_path: Path) -> None:
    """The commands, run by Yosys on a netlist, put every multiplier where the plan says, and nextpnr keeps it there."""
    (tmp_path / "d.v").write_text(every_multiplier(4).replace(" m", " array_column_"))
    plan = {f"array_column_{index}": SITES.name(40 + index, index % 3) for index in range(4)}
    (tmp_path / "f.ys").write_text(floorplan_script(plan))
    script = ["read_verilog -lib +/ecp5/cells_bb.v", "read_verilog d.v", "synth_ecp5 -top top"]
    (tmp_path / "s.ys").write_text("\n".join([*script, "script f.ys", "write_json n.json"]))
    done = find_yosys().run("s.ys", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    flags = ["--no-route", "--timing-allow-fail", "-q", "--json", "n.json", "--write", "placed.json"]
    assert find_nextpnr("ecp5").run(*open_target("ecp5-85k").place, *flags, cwd=tmp_path).returncode == 0
    (top,) = json.loads((tmp_path / "placed.json").read_text())["modules"].values()
    found = {name: cell["attributes"]["NEXTPNR_BEL"] for name, cell in top["cells"].items() if name in plan}
    assert found == plan
