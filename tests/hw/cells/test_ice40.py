"""SB_MAC16 in its three modes, of signed and unsigned operands."""

from __future__ import annotations

import pytest
from amaranth.hdl import Shape, signed, unsigned

from systoliq.hw.cells.ice40 import sb_mac16, sb_mac16_accumulator, sb_mac16_pair

from ..bench import traces, with_models
from .cell_bench import Cell, random_lines

CELLS = with_models("ice40")
CYCLES = 80
SHAPES = [(signed(16), signed(16)), (unsigned(16), signed(9)), (unsigned(8), unsigned(16)), (signed(3), unsigned(5))]
SMALL = [(signed(8), signed(8)), (unsigned(8), signed(8)), (unsigned(8), unsigned(8)), (signed(3), unsigned(5))]


def product_shape(bits, *operands):
    return Shape(bits, any(operand.signed for operand in operands))


def run(inputs, outputs, build, cells, folder):
    given = [random_lines(each, CYCLES, 6) for each in inputs]
    blocks = [Cell(*ports, build) for ports in zip(inputs, outputs, strict=True)]
    return zip(given, traces(blocks, given, cells=cells, folder=folder), strict=True)


@pytest.mark.parametrize("cells", CELLS)
def test_one_product_of_two_cycles_ago(tmp_path, cells):
    def build(m, block):
        m.submodules.cell = sb_mac16(block.a, block.b, block.product)

    inputs = [{"a": a, "b": b} for a, b in SHAPES]
    outputs = [{"product": product_shape(32, a, b)} for a, b in SHAPES]
    for lines, shown in run(inputs, outputs, build, cells, tmp_path):
        assert [line["product"] for line in shown[2:]] == [line["a"] * line["b"] for line in lines[:-2]]


@pytest.mark.parametrize("cells", CELLS)
def test_two_products_of_two_cycles_ago(tmp_path, cells):
    def build(m, block):
        m.submodules.cell = sb_mac16_pair((block.a0, block.a1), (block.b0, block.b1), (block.product0, block.product1))

    inputs = [{"a0": a, "a1": a, "b0": b, "b1": b} for a, b in SMALL]
    outputs = [{f"product{i}": product_shape(16, a, b) for i in range(2)} for a, b in SMALL]
    for lines, shown in run(inputs, outputs, build, cells, tmp_path):
        for i in range(2):
            wanted = [line[f"a{i}"] * line[f"b{i}"] for line in lines[:-2]]
            assert [line[f"product{i}"] for line in shown[2:]] == wanted


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("bits", [8, 17, 32])
def test_addend_and_product(tmp_path, cells, bits):
    def build(m, block):
        m.submodules.cell = sb_mac16_accumulator(block.a, block.b, block.addend, block.total)

    inputs = [{"a": a, "b": b, "addend": unsigned(bits)} for a, b in SMALL]
    for lines, shown in run(inputs, [{"total": unsigned(bits)}] * len(SMALL), build, cells, tmp_path):
        for t in range(3, CYCLES):
            wanted = lines[t - 1]["addend"] + lines[t - 3]["a"] * lines[t - 3]["b"]
            assert shown[t]["total"] == wanted % (1 << bits)


def test_operands_that_are_too_wide_are_refused():
    block = Cell({"a": signed(17), "b": signed(9)}, {"product": 32}, None)
    with pytest.raises(ValueError, match=r"operands must have at most 16 bits, not \[17\]"):
        sb_mac16(block.a, block.b, block.product)
    with pytest.raises(ValueError, match=r"operands must have at most 8 bits, not \[9, 9\]"):
        sb_mac16_pair([block.b] * 2, [block.b] * 2, [block.product[:16], block.product[16:]])
