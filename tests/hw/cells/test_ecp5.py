"""ECP5's multiplier and carry chains by our models: products, sums, and sums that begin anew."""

from __future__ import annotations

import pytest
from amaranth.hdl import signed

from systoliq.hw.cells.ecp5 import WIDTH, adder, clearing_adder, mult18x18d

from ..bench import traces, with_models
from .cell_bench import Cell, check_clearing_adder, random_lines

CELLS = with_models("ecp5")
CYCLES = 80


@pytest.mark.parametrize("cells", CELLS)
def test_product_of_three_cycles_ago(tmp_path, cells):
    def build(m, block):
        m.submodules.cell = mult18x18d(block.a, block.b, block.product)

    sizes = [(2, 2), (9, 17), (WIDTH, WIDTH)]
    inputs = [{"a": signed(a), "b": signed(b)} for a, b in sizes]
    blocks = [Cell(each, {"product": signed(a + b)}, build) for each, (a, b) in zip(inputs, sizes, strict=True)]
    given = [random_lines(each, CYCLES, 1) for each in inputs]
    for lines, shown in zip(given, traces(blocks, given, cells=cells, folder=tmp_path), strict=True):
        assert [line["product"] for line in shown[3:]] == [line["a"] * line["b"] for line in lines[:-3]]


@pytest.mark.parametrize("cells", CELLS)
def test_adder(tmp_path, cells):
    def build(m, block):
        m.d.comb += block.total.eq(adder(m, block.a, block.b, name="sum"))

    sizes = [(1, 1), (7, 4), (5, 24), (16, 16)]
    inputs = [{"a": signed(a), "b": signed(b)} for a, b in sizes]
    blocks = [Cell(each, {"total": signed(max(size) + 1)}, build) for each, size in zip(inputs, sizes, strict=True)]
    given = [random_lines(each, CYCLES, 2) for each in inputs]
    for lines, shown in zip(given, traces(blocks, given, cells=cells, folder=tmp_path), strict=True):
        assert [line["total"] for line in shown] == [line["a"] + line["b"] for line in lines]


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("carried", [False, True])
def test_clearing_adder(tmp_path, cells, carried):
    check_clearing_adder(clearing_adder, cells, tmp_path, carried=carried)


def test_operands_that_are_too_wide_are_refused():
    wide = Cell({"a": signed(19), "b": signed(3)}, {"product": 4}, None)
    with pytest.raises(ValueError, match="operands must have at most 18 bits, not 19 and 3"):
        mult18x18d(wide.a, wide.b, wide.product)
