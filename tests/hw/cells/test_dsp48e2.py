"""DSP48E2: a chain of two cells with an accumulator behind it, the pre-adder, and the constant."""

from __future__ import annotations

import pytest
from amaranth.hdl import Signal, signed

from systoliq.hw.cells.dsp48e2 import A_BITS, B_BITS, P_BITS, dsp48e2

from ..bench import trace, with_models, wrapped
from .cell_bench import Cell, random_lines

CELLS = with_models("dsp48e2")
CYCLES = 150
OPERANDS = {"a": signed(A_BITS), "b": signed(B_BITS)}


def run(inputs, build, cells, folder):
    lines = random_lines(inputs, CYCLES, 7)
    for line in lines[:8]:
        if "clear" in line:
            line["clear"] = 1
    shown = trace(Cell(inputs, {"p": signed(P_BITS)}, build), lines, cells=cells, folder=folder)
    return lines, [line["p"] for line in shown]


@pytest.mark.parametrize("cells", CELLS)
def test_product_of_three_cycles_ago_and_the_constant(tmp_path, cells):
    def build(m, block):
        m.submodules.cell = dsp48e2(block.a, block.b, p=block.p, constant=1 << 40 | 5)

    lines, found = run(OPERANDS, build, cells, tmp_path)
    assert found[4:] == [wrapped(line["a"] * line["b"] + (1 << 40 | 5), P_BITS) for line in lines[1:-3]]


@pytest.mark.parametrize("cells", CELLS)
def test_chain_that_accumulates(tmp_path, cells):
    def build(m, block):
        onward = Signal(P_BITS)
        m.submodules.first = dsp48e2(block.a, block.b, cascade_out=onward)
        m.submodules.last = dsp48e2(block.c, block.d, p=block.p, cascade_in=onward, clear=block.clear)

    inputs = OPERANDS | {"c": signed(9), "d": signed(5), "clear": 1}
    lines, found = run(inputs, build, cells, tmp_path)
    for t in range(6, CYCLES):
        held = 0 if lines[t - 2]["clear"] else found[t - 1]
        wanted = held + lines[t - 3]["c"] * lines[t - 3]["d"] + lines[t - 4]["a"] * lines[t - 4]["b"]
        assert found[t] == wrapped(wanted, P_BITS), t


@pytest.mark.parametrize("cells", CELLS)
def test_pre_adder(tmp_path, cells):
    def build(m, block):
        m.submodules.cell = dsp48e2(block.a, block.b, d=block.d, p=block.p)

    lines, found = run({"a": signed(8), "b": signed(18), "d": signed(26)}, build, cells, tmp_path)
    for t in range(6, CYCLES):
        wanted = (lines[t - 5]["a"] + lines[t - 4]["d"]) * lines[t - 4]["b"]
        assert found[t] == wrapped(wanted, P_BITS), t


def test_operands_that_are_too_wide_are_refused():
    block = Cell({"a": signed(28), "b": signed(18)}, {"p": 48}, None)
    with pytest.raises(ValueError, match="operands must have at most 27 and 18 bits, not 28 and 18"):
        dsp48e2(block.a, block.b, p=block.p)
