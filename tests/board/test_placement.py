"""Where nextpnr placed the cells, and the picture of it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from systoliq.board.placement import floorplan_svg
from systoliq.synth.placed_cells import PlacedCell, placed_cells

SVG = "{http://www.w3.org/2000/svg}"
STAGES = ["s0_conv", "s1_<fc>", "s10_last"]


def part_of(name):
    return next((stage for stage in STAGES if stage in name), "")


@pytest.fixture
def cells():
    """Three stages and a cell of none, in four tiles; the tile at 5, 1 is a multiplier's."""
    return [
        *(PlacedCell(f"{STAGES[0]}.{index}", "ICESTORM_LC", 1, 1) for index in range(8)),
        PlacedCell(f"{STAGES[1]}.a", "ICESTORM_LC", 1, 1),
        PlacedCell(f"{STAGES[1]}.m", "ICESTORM_DSP", 5, 1),
        PlacedCell(f"{STAGES[2]}.b", "ICESTORM_LC", 2, 3),
        PlacedCell("pll", "ICESTORM_PLL", 0, 0),
    ]


@pytest.mark.parametrize(("bel", "tile"), [
    ("X12/Y31/lc3", (12, 31)),  # iCE40
    ("X2/Y70/SLICEA.COMB0", (2, 70)),  # ECP5
    ("X3Y4/LUT0", (3, 4)),  # Gowin
    ("", None),
    ("IOBUF", None),
])  # fmt: skip
def test_tiles_of_each_family(bel, tile):
    cells = {"a": {"type": "LC", "attributes": {"NEXTPNR_BEL": bel}}, "b": {"type": "LC"}}
    found = list(placed_cells({"modules": {"top": {"cells": cells}}}))
    assert found == ([] if tile is None else [PlacedCell("a", "LC", *tile)])


def test_each_tile_has_the_colour_of_the_part_with_most_cells(cells):
    tree = ElementTree.fromstring(floorplan_svg(cells, part_of, "ice40"))
    fills = {
        text.text.partition(":")[0]: box.get("fill")
        for box, text in zip(tree.findall(f"{SVG}rect")[1:], tree.findall(f"{SVG}text"), strict=True)
    }
    assert list(fills) == [*STAGES, "serial link, clock, constants"], "in the order of the stages"
    assert len(set(fills.values())) == 4
    drawn = {}
    for path in tree.findall(f"{SVG}path"):
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)h", path.get("d")):
            drawn[int(float(x)), int(float(y))] = path
    assert set(drawn) == {(1, 1), (5, 1), (2, 3), (0, 0)}
    assert drawn[1, 1].get("fill") == fills[STAGES[0]]
    assert drawn[5, 1].get("fill") == fills[STAGES[1]]
    assert drawn[5, 1].get("stroke")
    assert drawn[1, 1].get("stroke") is None
    assert float(drawn[2, 3].get("fill-opacity")) < float(drawn[1, 1].get("fill-opacity")) == 1
    assert [text.text for text in tree.findall(f"{SVG}text")][1] == "s1_<fc>: 2 cells"


def test_the_frame_holds_all_tiles(cells):
    tree = ElementTree.fromstring(floorplan_svg(cells, part_of, "ice40"))
    box = tree.find(f"{SVG}rect")
    assert [box.get(name) for name in ("x", "y", "width", "height")] == ["0", "0", "6", "4"]


def test_nothing_placed_is_no_picture():
    assert floorplan_svg([], part_of, "ice40") == ""
