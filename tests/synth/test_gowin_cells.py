"""Our models of Gowin's cells against their equations, written again in Python integers, and Yosys' ALU beside ours.

MULT9X9 and MULT18X18: Gowin UG287. ALU in mode MULT: UG288.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from systoliq.hw.cells import models

from .cell_models import PYOSYS, check_products, every_sign, icarus, operands, run_multiplier, yosys_model

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
]

REGISTERS = [
    ((), 0),
    (("OUT_REG",), 1),
    (("PIPE_REG",), 1),
    (("AREG", "BREG"), 1),
    (("AREG", "BREG", "ASIGN_REG", "BSIGN_REG", "OUT_REG"), 2),
    (("AREG", "BREG", "PIPE_REG", "OUT_REG"), 3),
]


def mult(width: int, parameters: dict[str, str], **pins: str) -> str:
    """A cell called `dut` of operands `a` and `b`, signed unless `pins` say otherwise."""
    tied = {"ASIGN": "1'b1", "BSIGN": "1'b1", "ASEL": "1'b0", "BSEL": "1'b0", "CE": "1'b1", "RESET": "1'b0"}
    connected = {"CLK": "clk", "A": "a", "B": "b", "SIA": f"{width}'b0", "SIB": f"{width}'b0", "DOUT": "p"}
    given = ", ".join(f".{name}({value})" for name, value in parameters.items())
    wired = ", ".join(f".{name}({net})" for name, net in {**tied, **connected, **pins}.items())
    return f"MULT{width}X{width} #({given}) dut ({wired});"


@every_sign
@pytest.mark.parametrize(("registers", "latency"), REGISTERS)
@pytest.mark.parametrize("width", [9, 18])
def test_multiplier(
    tmp_path: Path, width: int, registers: tuple[str, ...], latency: int, signs: tuple[bool, bool]
) -> None:
    instance = mult(width, dict.fromkeys(registers, "1'b1"), ASIGN=f"1'b{signs[0]:d}", BSIGN=f"1'b{signs[1]:d}")
    pairs = operands(width)
    found = run_multiplier(tmp_path, models()[f"MULT{width}X{width}"], instance, width, pairs)
    check_products(found, pairs, width, signs, latency)


@pytest.mark.parametrize("width", [9, 18])
def test_it_keeps_its_state_without_enable_and_is_reset(tmp_path: Path, width: int) -> None:
    """The enable is low where A's lowest bits are 1, the reset high where they are 2."""
    instance = mult(width, {"OUT_REG": "1'b1"}, CE="a[1:0] != 1", RESET="a[1:0] == 2")
    pairs = operands(width)
    found = run_multiplier(tmp_path, models()[f"MULT{width}X{width}"], instance, width, pairs)
    shown = [-1]
    for a, b in pairs[:-1]:
        product = [value - (value >> (width - 1) << width) for value in (a, b)]
        kept = {1: shown[-1], 2: 0}.get(a % 4, product[0] * product[1] % (1 << 2 * width))
        shown.append(kept)
    assert found == shown


@pytest.mark.parametrize("width", [9, 18])
@pytest.mark.parametrize(("change", "cycles"), [("ASEL", 1), ("BSEL", 1), ("SOA_REG", 0), ("MULT_RESET_MODE", 0)])
def test_it_stops_at_a_mode_that_it_does_not_have(tmp_path: Path, width: int, change: str, cycles: int) -> None:
    if change.endswith("SEL"):
        instance = mult(width, {}, **{change: "1'b1"})
    else:
        instance = mult(width, {change: '"ASYNC"' if change == "MULT_RESET_MODE" else "1'b1"})
    found = run_multiplier(tmp_path, models()[f"MULT{width}X{width}"], instance, width, operands(width))
    assert len(found) == cycles


@pytest.mark.parametrize("whose", ["ours", "yosys"])
def test_alu(tmp_path: Path, whose: str) -> None:
    """SUM and twice COUT are CIN + I3 + (I0 and I1), bit by bit."""
    if whose == "yosys" and not PYOSYS:
        pytest.skip("the extra synth is not installed")
    testbench = """\
module tb;
    reg [3:0] v;
    wire sum, cout;
    integer i;
    ALU #(.ALU_MODE(9)) dut (.I0(v[0]), .I1(v[1]), .I3(v[2]), .CIN(v[3]), .SUM(sum), .COUT(cout));
    initial for (i = 0; i < 16; i = i + 1) begin v = i; #1 $display("%0d", {cout, sum}); end
endmodule
"""
    text = models()["ALU"]
    if whose == "yosys":
        found = re.search(r"^module ALU\b.*?^endmodule", yosys_model("gowin", "cells_sim.v"), re.M | re.S)
        assert found
        text = found[0]
    expected = [(v >> 3) + (v >> 2 & 1) + (v & v >> 1 & 1) for v in range(16)]
    assert [int(line) for line in icarus(tmp_path, testbench, text).split()] == expected


def test_the_alu_stops_at_another_mode(tmp_path: Path) -> None:
    testbench = "module tb; ALU #(.ALU_MODE(2)) dut (.I0(1'b0), .I1(1'b0), .I3(1'b0), .CIN(1'b0)); endmodule\n"
    assert "a mode that this model does not have" in icarus(tmp_path, testbench, models()["ALU"])
