"""Vendor cells in the evaluator, cycle by cycle: what the cells' simulation models show in Icarus."""

from __future__ import annotations

import pytest
from amaranth.hdl import Shape, Signal, Value, signed, unsigned
from amaranth.lib.wiring import In

from systoliq.hw.cells import ecp5, gowin, ice40
from systoliq.hw.rom import Rom
from systoliq.hw.verilog import emit_verilog
from systoliq.verify.machine import Machine, UntranslatableError
from systoliq.verify.syntax import read_verilog

from ..hw.bench import trace
from ..hw.cells.cell_bench import Cell, random_lines

CYCLES = 60
PAIR = {"a0": signed(8), "a1": signed(8), "b0": unsigned(8), "b1": unsigned(8)}
SUM = {"term": signed(9), "held": signed(12), "clear": 1, "carry": 1}


BYTES = (signed(8), signed(9))


def one_product(cell, a, b):
    def build(m, block):
        m.submodules.cell = cell(block.a, block.b, block.y)

    return Cell({"a": a, "b": b}, {"y": signed(Shape.cast(a).width + Shape.cast(b).width)}, build)


def two_products(m, block):
    products = [Signal(signed(16), name=f"product_{i}") for i in range(2)]
    m.submodules.cell = ice40.sb_mac16_pair((block.a0, block.a1), (block.b0, block.b1), products)
    m.d.comb += [block.y0.eq(products[0]), block.y1.eq(products[1])]


def product_and_addend(m, block):
    m.submodules.cell = ice40.sb_mac16_accumulator(block.a, block.b, block.c, block.y)


def sum_of(family):
    def build(m, block):
        carry = {"carry_in": block.carry, "carry_out": True}
        m.d.comb += block.y.eq(family.clearing_adder(m, block.term, block.held, block.clear, name="sum", **carry))

    return Cell(SUM, {"y": 13}, build)


def table():
    return Rom([(at * at + 3 * at) % 60_013 for at in range(700)], 16, cells="ecp5", kind="rom")


BLOCKS = {  # cells, block
    "MULT18X18D": ("ecp5", lambda: one_product(ecp5.mult18x18d, *BYTES)),
    "CCU2C": ("ecp5", lambda: sum_of(ecp5)),
    "DP16KD": ("ecp5", table),
    "MULT9X9": ("gowin", lambda: one_product(gowin.multiplier, *BYTES)),
    "MULT18X18": ("gowin", lambda: one_product(gowin.multiplier, signed(18), signed(11))),
    "ALU": ("gowin", lambda: sum_of(gowin)),
    "SB_MAC16": ("ice40", lambda: one_product(ice40.sb_mac16, *BYTES)),
    "SB_MAC16, without signs": ("ice40", lambda: one_product(ice40.sb_mac16, unsigned(9), unsigned(16))),
    "SB_MAC16, two products": ("ice40", lambda: Cell(PAIR, {"y0": signed(16), "y1": signed(16)}, two_products)),
    "SB_MAC16, a sum": (
        "ice40", lambda: Cell({"a": signed(8), "b": unsigned(8), "c": 20}, {"y": 20}, product_and_addend),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_shows_what_the_model_of_the_cell_shows(name, tmp_path):
    cells, made = BLOCKS[name]
    block = made()
    inputs = {port: member.shape for port, member in block.signature.members.items() if member.flow == In}
    lines = random_lines(inputs, CYCLES, 1)
    if name == "DP16KD":
        lines = [{"address": line["address"] % 700} for line in lines]
    wanted = trace(block, lines, cells=cells, folder=tmp_path)
    text = emit_verilog(made(), "dut")
    assert name.split(",")[0] in text
    machine = Machine(read_verilog(text), "dut")
    for cycle, (line, expected) in enumerate(zip(lines, wanted, strict=True)):
        given = {port: value % (1 << Shape.cast(inputs[port]).width) for port, value in line.items()}
        shown = dict(zip(machine.outputs, machine.step(*(given.get(port, 0) for port in machine.inputs)), strict=True))
        for port, value in expected.items():
            if value is None:  # unknown until the first operands have come through the registers
                assert cycle < 3
            else:
                assert shown[port] == value % (1 << len(Value.cast(getattr(block, port))))


FAULTS = {  # a block, what is replaced in its Verilog, by what, and why the evaluator does not read the cell
    "another clock": ("MULT18X18D", ".CLK0(clk)", ".CLK0(a[0])", "a MULT18X18D has another clock"),
    "one register": ("MULT18X18D", '.REG_INPUTA_CLK("CLK0"),', "", "a MULT18X18D has only one of the registers"),
    "an enable": ("DP16KD", ".CEA(1'h1)", ".CEA(address[0])", "a DP16KD has CEA tied to something else than 1"),
    "a mixed mode": (
        "SB_MAC16, a sum",
        ".TOPADDSUB_CARRYSELECT(2'h2),",
        "",
        "is in a mode that is not read",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_cell_in_another_mode_is_not_read(what):
    name, old, new, reason = FAULTS[what]
    text = emit_verilog(BLOCKS[name][1](), "dut")
    assert old in text
    with pytest.raises(UntranslatableError, match=reason):
        Machine(read_verilog(text.replace(old, new)), "dut")
