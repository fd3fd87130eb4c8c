"""Gowin's multipliers and carry chains by our models: products of either cell, and sums that begin anew."""

from __future__ import annotations

import pytest
from amaranth.hdl import signed

from systoliq.hw.cells.gowin import WIDTH, clearing_adder, multiplier
from systoliq.hw.verilog import emit_verilog

from ..bench import traces, with_models
from .cell_bench import Cell, check_clearing_adder, random_lines

CELLS = with_models("gowin")
SIZES = [(2, 2), (9, 9), (8, 9), (9, 10), (9, 17), (WIDTH, WIDTH)]


def blocks():
    def build(m, block):
        m.submodules.cell = multiplier(block.a, block.b, block.product)

    return [Cell({"a": signed(a), "b": signed(b)}, {"product": signed(a + b)}, build) for a, b in SIZES]


@pytest.mark.parametrize("cells", CELLS)
def test_product_of_three_cycles_ago(tmp_path, cells):
    given = [random_lines({"a": signed(a), "b": signed(b)}, 80, 1) for a, b in SIZES]
    for lines, shown in zip(given, traces(blocks(), given, cells=cells, folder=tmp_path), strict=True):
        assert [line["product"] for line in shown[3:]] == [line["a"] * line["b"] for line in lines[:-3]]


def test_operands_of_up_to_nine_bits_take_the_smaller_cell():
    found = ["MULT9X9" in emit_verilog(block, "top") for block in blocks()]
    assert found == [max(size) <= 9 for size in SIZES]


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("carried", [False, True])
def test_clearing_adder(tmp_path, cells, carried):
    check_clearing_adder(clearing_adder, cells, tmp_path, carried=carried)


def test_operands_that_are_too_wide_are_refused():
    wide = Cell({"a": signed(19), "b": signed(3)}, {"product": 4}, None)
    with pytest.raises(ValueError, match="operands must have at most 18 bits, not 19 and 3"):
        multiplier(wide.a, wide.b, wide.product)
