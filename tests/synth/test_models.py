"""Our models of vendor cells against their equations, written again in Python integers, and Yosys' models against them.

The models' heads name the vendors' documents. CCU2C: two lookup tables of four inputs with a carry each.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from systoliq.hw.cells import CELLS, model_files, models, models_verilog
from systoliq.hw.multiplier import Multiplier
from systoliq.hw.verilog import emit_verilog

from .cell_models import (
    PYOSYS,
    SEED,
    bits_signed,
    check_products,
    every_sign,
    icarus,
    operands,
    run_multiplier,
    yosys_model,
)

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
]


MULT_REGISTERS = [
    ((), 0),
    (("OUTPUT",), 1),
    (("PIPELINE", "OUTPUT"), 2),
    (("INPUTA", "INPUTB"), 1),
    (("INPUTA", "INPUTB", "PIPELINE", "OUTPUT"), 3),
]


@pytest.mark.parametrize("signs", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize(("registers", "latency"), MULT_REGISTERS)
def test_mult18x18d(tmp_path: Path, registers: tuple[str, ...], latency: int, signs: tuple[bool, bool]) -> None:
    parameters = ", ".join(['.RESETMODE("SYNC")', *(f'.REG_{register}_CLK("CLK0")' for register in registers)])
    pins = [
        f".{port.upper()}{i}({port}[{i}])" for port, width in (("a", 18), ("b", 18), ("p", 36)) for i in range(width)
    ]
    pins += [f".SIGNEDA(1'b{signs[0]:d})", f".SIGNEDB(1'b{signs[1]:d})", ".CLK0(clk)", ".CE0(1'b1)", ".RST0(1'b0)"]
    pins += [".SOURCEA(1'b0)", ".SOURCEB(1'b0)"]
    pairs = operands(18)
    found = run_multiplier(
        tmp_path, models()["MULT18X18D"], f"MULT18X18D #({parameters}) dut ({', '.join(pins)});", 18, pairs
    )
    check_products(found, pairs, 18, signs, latency)


def mac16(parameters: dict[str, int], addend: str = "32'b0", *, driven: str = "") -> str:
    """A cell called `dut`; its control inputs are 0, but for the one `driven`."""
    zeros = [f"{name}{half}" for name in ("IRST", "ORST", "OLOAD", "ADDSUB", "OHOLD") for half in ("TOP", "BOT")]
    zeros += ["AHOLD", "BHOLD", "CHOLD", "DHOLD", "CI", "ACCUMCI", "SIGNEXTIN"]
    pins = [f".{pin}(1'b{int(pin == driven)})" for pin in zeros]
    pins += [".CLK(clk)", ".CE(1'b1)", ".A(a)", ".B(b)", ".C(addend[31:16])", ".D(addend[15:0])", ".O(p)"]
    given = ", ".join(f".{name}({value})" for name, value in parameters.items())
    return f"wire [31:0] addend = {addend}; SB_MAC16 #({given}) dut ({', '.join(pins)});"


def sb_mac16_model(whose: str) -> str:
    if whose == "ours":
        return models()["SB_MAC16"]
    if not PYOSYS:
        pytest.skip("the extra synth is not installed")
    macros = "".join(f"`define ICE40_DEFAULT_ASSIGNMENT_{what}\n" for what in ("V(v)", "0", "1"))
    found = re.search(r"^module SB_MAC16.*?^endmodule", yosys_model("ice40", "cells_sim.v"), re.M | re.S)
    assert found
    return macros + found[0]


both_models = pytest.mark.parametrize("whose", ["ours", "yosys"])
MAC16_REGISTERS = [((), 0), (("A_REG", "B_REG"), 1), (("A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"), 2)]
PAIR_REGISTERS = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG")
ADDS_C_AND_D = {
    **{
        f"{half}{what}": value
        for half in ("TOP", "BOT")
        for what, value in (("OUTPUT_SELECT", 1), ("ADDSUB_LOWERINPUT", 2), ("ADDSUB_UPPERINPUT", 1))
    },
    "TOPADDSUB_CARRYSELECT": 2,
}


def mac16_parameters(signs: tuple[bool, bool], registers: Sequence[str], **others: int) -> dict[str, int]:
    return {"A_SIGNED": int(signs[0]), "B_SIGNED": int(signs[1])} | dict.fromkeys(registers, 1) | others


@every_sign
@pytest.mark.parametrize(("registers", "latency"), MAC16_REGISTERS)
@both_models
def test_sb_mac16(
    tmp_path: Path, registers: tuple[str, ...], latency: int, signs: tuple[bool, bool], whose: str
) -> None:
    pairs = operands(16)
    parameters = mac16_parameters(signs, registers, TOPOUTPUT_SELECT=3, BOTOUTPUT_SELECT=3)
    found = run_multiplier(tmp_path, sb_mac16_model(whose), mac16(parameters), 16, pairs)
    check_products(found, pairs, 16, signs, latency)


@every_sign
@pytest.mark.parametrize(
    ("registers", "latency"),
    [
        ((), 0),
        (("A_REG", "B_REG"), 1),
        (PAIR_REGISTERS, 1),
        (("A_REG", "B_REG", *PAIR_REGISTERS), 2),
        (("A_REG", "B_REG", *PAIR_REGISTERS, "PIPELINE_16x16_MULT_REG1"), 2),
    ],
)
@both_models
def test_sb_mac16_of_two_products(
    tmp_path: Path, registers: tuple[str, ...], latency: int, signs: tuple[bool, bool], whose: str
) -> None:
    upper, lower = operands(8), operands(8)
    random.Random(SEED).shuffle(upper)
    pairs = [(a << 8 | c, b << 8 | d) for (a, b), (c, d) in zip(upper, lower, strict=True)]
    parameters = mac16_parameters(signs, registers, TOPOUTPUT_SELECT=2, BOTOUTPUT_SELECT=2, MODE_8x8=1)
    found = run_multiplier(tmp_path, sb_mac16_model(whose), mac16(parameters), 16, pairs)
    check_products([each >> 16 for each in found], upper, 8, signs, latency)
    check_products([each & 0xFFFF for each in found], lower, 8, signs, latency)


@every_sign
@pytest.mark.parametrize(("registers", "latency"), MAC16_REGISTERS)
@both_models
def test_sb_mac16_with_its_adder(
    tmp_path: Path, registers: tuple[str, ...], latency: int, signs: tuple[bool, bool], whose: str
) -> None:
    """The sum is led back from outside, but for the cycles in which a sum begins: those with the lowest bits of A 0."""
    parameters = mac16_parameters(signs, registers, **ADDS_C_AND_D)
    pairs = operands(16)  # the first have A = 0
    instance = mac16(parameters, "p & {32{a[3:0] != 0}}")
    found = run_multiplier(tmp_path, sb_mac16_model(whose), instance, 16, pairs)
    total, expected = 0, []
    for cycle in range(latency, len(pairs) - 1):
        a, b = (bits_signed(each, 16, sign) for each, sign in zip(pairs[cycle - latency], signs, strict=True))
        total = ((total if pairs[cycle][0] % 16 else 0) + a * b) % (1 << 32)
        expected.append(total)
    assert found[latency + 1 :] == expected


@pytest.mark.parametrize("change", ["TOPADDSUB_UPPERINPUT", "TOPOUTPUT_SELECT", "C_REG", "MODE_8x8", "NEG_TRIGGER"])
def test_our_sb_mac16_stops_at_a_mode_that_it_does_not_have(tmp_path: Path, change: str) -> None:
    parameters = ADDS_C_AND_D | {change: 0 if ADDS_C_AND_D.get(change) else 1}
    assert not run_multiplier(tmp_path, models()["SB_MAC16"], mac16(parameters), 16, operands(16))


@pytest.mark.parametrize("driven", ["OLOADTOP", "ORSTBOT", "ADDSUBTOP", "CI", "AHOLD"])
def test_our_sb_mac16_stops_at_an_input_that_it_does_not_have(tmp_path: Path, driven: str) -> None:
    instance = mac16(ADDS_C_AND_D, driven=driven)
    assert len(run_multiplier(tmp_path, models()["SB_MAC16"], instance, 16, operands(16))) == 1


def ccu2c(init: tuple[int, int], inject: tuple[bool, bool], inputs: int) -> tuple[int, int, int]:
    """S0, S1 and COUT by the equations: `inputs` are CIN, ABCD of half 0, ABCD of half 1, from bit 0 up."""
    carry, sums = inputs & 1, []
    for half in (0, 1):
        pins = inputs >> (1 + 4 * half) & 15
        looked_up, generated = init[half] >> pins & 1, init[half] >> (pins & 3) & 1
        sums.append(looked_up ^ (0 if inject[half] else carry))
        carry = carry if looked_up else 0 if inject[half] else generated
    return sums[0], sums[1], carry


INITS = [(0xA6AA, 0xA6AA), (0x000A, 0xA6AA), (0x0000, 0x96AA), (0x96AA, 0x0000), (0x5A3C, 0xC3F1)]


@pytest.mark.parametrize("inject", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("whose", ["ours", "yosys"])
def test_ccu2c(tmp_path: Path, init: tuple[int, int], inject: tuple[bool, bool], whose: str) -> None:
    if whose == "yosys" and not PYOSYS:
        pytest.skip("the extra synth is not installed")
    said = ", ".join(f'.INIT{i}({init[i]}), .INJECT1_{i}("{"YES" if inject[i] else "NO"}")' for i in (0, 1))
    pins = [".CIN(v[0])", *(f".{pin}{half}(v[{1 + 4 * half + i}])" for half in (0, 1) for i, pin in enumerate("ABCD"))]
    testbench = f"""\
module tb;
    reg [8:0] v;
    wire s0, s1, cout;
    integer i;
    CCU2C #({said}) dut ({", ".join(pins)}, .S0(s0), .S1(s1), .COUT(cout));
    initial
        for (i = 0; i < 512; i = i + 1) begin
            v = i;
            #1 $display("%b%b%b", s0, s1, cout);
        end
endmodule
"""
    if whose == "yosys":
        text = (
            yosys_model("ecp5", "ccu2c_sim.vh") if _has("ecp5", "ccu2c_sim.vh") else yosys_model("ecp5", "cells_sim.v")
        )
        lut = re.search(r"^module LUT4.*?^endmodule", yosys_model("ecp5", "common_sim.vh", "cells_sim.v"), re.M | re.S)
        lut2 = re.search(r"^module LUT2.*?^endmodule", yosys_model("ecp5", "common_sim.vh", "cells_sim.v"), re.M | re.S)
        assert lut
        assert lut2
        text += "\n" + lut[0] + "\n" + lut2[0]
    else:
        text = models()["CCU2C"]
    lines = icarus(tmp_path, testbench, text).split()
    assert lines == ["".join(map(str, ccu2c(init, inject, inputs))) for inputs in range(512)]


CHOICES = {
    "LUT4": ("#(.INIT(16'h3AC5)) dut (.A(v[0]), .B(v[1]), .C(v[2]), .D(v[3]), .Z(z))", lambda v: 0x3AC5 >> v & 1),
    "PFUMX": ("dut (.ALUT(v[0]), .BLUT(v[1]), .C0(v[2]), .Z(z))", lambda v: v >> (0 if v & 4 else 1) & 1),
    "L6MUX21": ("dut (.D0(v[0]), .D1(v[1]), .SD(v[2]), .Z(z))", lambda v: v >> (1 if v & 4 else 0) & 1),
}


@pytest.mark.parametrize("cell", CHOICES)
@pytest.mark.parametrize("whose", ["ours", "yosys"])
def test_lookup_table_and_multiplexers(tmp_path: Path, cell: str, whose: str) -> None:
    if whose == "yosys" and not PYOSYS:
        pytest.skip("the extra synth is not installed")
    instance, equation = CHOICES[cell]
    testbench = f"""\
module tb;
    reg [3:0] v;
    wire z;
    integer i;
    {cell} {instance};
    initial for (i = 0; i < 16; i = i + 1) begin v = i; #1 $display("%b", z); end
endmodule
"""
    text = models()[cell]
    if whose == "yosys":
        found = re.search(
            rf"^module {cell}\b.*?^endmodule", yosys_model("ecp5", "common_sim.vh", "cells_sim.v"), re.M | re.S
        )
        assert found
        text = found[0]
        assert f"module {cell}" in text
    assert icarus(tmp_path, testbench, text).split() == [str(equation(v)) for v in range(16)]


def test_a_large_memory_without_contents_is_all_zeros(tmp_path: Path) -> None:
    testbench = """\
module tb;
    reg clk = 0;
    wire [31:0] a, b;
    integer i, words = 0;
    DPSC512K #(.ECC_BYTE_SEL("BYTE_EN")) dut (
        .CLK(clk), .CSA(1'b1), .CSB(1'b1), .CEA(1'b1), .CEB(1'b1), .WEA(1'b0), .WEB(1'b0), .RSTA(1'b0), .RSTB(1'b0),
        .ADA(i[13:0]), .ADB(~i[13:0]), .DOA(a), .DOB(b)
    );
    initial begin
        for (i = 0; i < 16384; i = i + 1) begin
            #1 clk = 1;
            #1 clk = 0;
            if (a === 0 && b === 0) words = words + 1;
        end
        $display("%0d", words);
    end
endmodule
"""
    assert icarus(tmp_path, testbench, models()["DPSC512K"]) == "16384\n"


def _has(family: str, file: str) -> bool:
    from systoliq.synth.tools import yosys_share

    return (yosys_share() / family / file).exists()


@pytest.mark.sampled(9)
@pytest.mark.parametrize("cells", CELLS)
def test_every_product_of_two_bytes(tmp_path: Path, cells: str) -> None:
    multiplier = Multiplier(8, 8, cells=cells)
    testbench = f"""\
module tb;
    reg clk = 0;
    reg [15:0] pair, past [0:{multiplier.latency}];
    wire [15:0] product;
    wire signed [7:0] a = past[{multiplier.latency}][15:8], b = past[{multiplier.latency}][7:0];
    wire signed [15:0] expected = a * b;
    integer i, k, right = 0;
    dut dut (.clk(clk), .a(pair[15:8]), .b(pair[7:0]), .product(product));
    initial begin
        for (i = 0; i < 65536 + {multiplier.latency}; i = i + 1) begin
            pair = i;
            past[0] = i;
            #5 if (i >= {multiplier.latency} && product === expected) right = right + 1;
            clk = 1;
            for (k = {multiplier.latency}; k > 0; k = k - 1) past[k] = past[k - 1];
            #5 clk = 0;
        end
        $display("%0d", right);
        $finish;
    end
endmodule
"""
    text = emit_verilog(multiplier, "dut")
    assert icarus(tmp_path, testbench, text, models_verilog(cells)).split()[0] == "65536"


def test_models_of_two_designs_do_no_harm(tmp_path: Path) -> None:
    text = models_verilog("ecp5")
    assert icarus(tmp_path, "module tb; initial $display(1); endmodule", text, text).strip().endswith("1")
    assert not models_verilog("portable")
    assert all(path.is_file() for cells in CELLS for path in model_files(cells))
