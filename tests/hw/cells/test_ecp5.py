"""ECP5's multiplier and carry chains by our models: products, sums, and sums that begin anew."""

from __future__ import annotations

import pytest
from amaranth.hdl import signed

from systoliq.hw.cells.ecp5 import WIDTH, adder, clearing_adder, mult18x18d

from ..bench import traces, with_models
from .cell_bench import Cell, random_lines

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
    def build(m, block):
        carry = block.carry if carried else None
        total = clearing_adder(
            m, block.term, block.held, block.clear, name="sum", carry_in=carry, carry_out=len(block.held) % 2 == 0
        )
        m.d.comb += block.total.eq(total)

    widths = (1, 6, 13, 24)
    inputs = [{"term": signed(min(bits, 9)), "held": bits, "clear": 1, "carry": 1} for bits in widths]
    blocks = [Cell(each, {"total": each["held"] + 1}, build) for each in inputs]
    given = [random_lines(each, CYCLES, 3) for each in inputs]
    for bits, lines, shown in zip(widths, given, traces(blocks, given, cells=cells, folder=tmp_path), strict=True):
        for line, found in zip(lines, shown, strict=True):
            held, carry = 0 if line["clear"] else line["held"], line["carry"] if carried else 0
            total = (line["term"] % (1 << bits)) + held + carry
            wanted = total if bits % 2 == 0 else total % (1 << bits)
            assert found["total"] == wanted, (bits, line)


def test_operands_that_are_too_wide_are_refused():
    wide = Cell({"a": signed(19), "b": signed(3)}, {"product": 4}, None)
    with pytest.raises(ValueError, match="operands must have at most 18 bits, not 19 and 3"):
        mult18x18d(wide.a, wide.b, wide.product)
