"""Xilinx' DSP48E1 and DSP48E2: our models against the equations of UG479 and UG579, and what goes into the cells."""

from __future__ import annotations

import importlib.util
import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Cat, Module, Value
from amaranth.hdl import signed as signed_shape
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from click.testing import CliRunner, Result

from systoliq.cli.main import cli
from systoliq.design import LayerDesign, LayerOptions
from systoliq.golden.formats import INT8, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.hw.cells import model_files, models
from systoliq.hw.delay import delay
from systoliq.hw.mac import Mac, operand_layout, together
from systoliq.hw.skew import Skew
from systoliq.hw.verilog import emit_verilog
from systoliq.package import make_package
from systoliq.sim.tools import find
from systoliq.synth import netlist_sources
from systoliq.synth.flow import synthesized
from systoliq.synth.targets import open_target
from systoliq.synth.tools import yosys_share
from systoliq.synth.yosys import cell_figures

from ..support.testbenches import icarus, one_round

PYOSYS = importlib.util.find_spec("pyosys")
needs_yosys = [pytest.mark.slow, pytest.mark.skipif(PYOSYS is None, reason="the extra synth is not installed")]
needs_icarus = [
    pytest.mark.simulator,
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
]
needs_both = needs_yosys + needs_icarus

CYCLES = 400
SIZES = {"DSP48E1": (25, 7), "DSP48E2": (27, 9)}  # bits of the multiplicand and of OPMODE


def signed(value: int, bits: int) -> int:
    return (value & (1 << bits) - 1) - (value >> bits - 1 & 1) * (1 << bits)


class Dsp48:
    """One DSP48 by the user guides' equations; `parameters` are the attributes that are not 0, or words."""

    def __init__(self, kind: str, parameters: dict[str, int | str]) -> None:
        self.kind, self.parameters = kind, parameters
        self.width = SIZES[kind][0]
        names = ("a1", "a2", "b1", "b2", "c", "d", "ad", "m", "p", "opmode", "carry")
        self.registers = dict.fromkeys(names, 0)

    def depth(self, name: str) -> int:
        return int(self.parameters.get(f"{name}REG", 0))

    def values(self, pins: dict[str, int]) -> dict[str, int]:
        """What stands before and after each register."""
        r, on = self.registers, self.depth
        v = {name: pins[name.upper()] for name in ("c", "d")}
        v["a_in"] = pins["ACIN" if self.parameters.get("A_INPUT") == "CASCADE" else "A"]
        v["b_in"] = pins["BCIN" if self.parameters.get("B_INPUT") == "CASCADE" else "B"]
        a = r["a2"] if on("A") else v["a_in"]
        b = r["b2"] if on("B") else v["b_in"]
        c = r["c"] if on("C") else pins["C"]
        d = r["d"] if on("D") else pins["D"]
        opmode = r["opmode"] if on("OPMODE") else pins["OPMODE"]
        opmode ^= int(self.parameters.get("IS_OPMODE_INVERTED", 0))
        carry = r["carry"] if on("CARRYIN") else pins["CARRYIN"]
        v["ad"] = (signed(a, self.width) + (signed(d, self.width) if pins["INMODE"] & 4 else 0)) % (1 << self.width)
        pre_added = self.parameters.get("AMULTSEL") == "AD" or self.parameters.get("USE_DPORT") == "TRUE"
        multiplicand = (r["ad"] if on("AD") else v["ad"]) if pre_added else a
        v["m"] = signed(multiplicand, self.width) * signed(b, 18)
        m = r["m"] if on("M") else v["m"]
        p, pcin = r["p"], pins["PCIN"]
        shifted = {5: signed(pcin, 48) >> 17, 6: signed(p, 48) >> 17}
        z = {0: 0, 1: pcin, 2: p, 3: c, **shifted}[opmode >> 4 & 7]
        w = {0: 0, 1: p, 2: int(self.parameters.get("RND", 0)), 3: c}[opmode >> 7]
        v["p"] = ((m if opmode & 15 else 0) + w + z + carry) % (1 << 48)
        v["P"] = p if on("P") else v["p"]
        v["ACOUT"] = r["a1"] if on("A") == 2 and on("ACASC") == 1 else a
        v["BCOUT"] = r["b1"] if on("B") == 2 and on("BCASC") == 1 else b
        return v

    def step(self, pins: dict[str, int]) -> tuple[int, int, int]:
        """P, ACOUT and BCOUT before the rising edge; then the edge."""
        v, r = self.values(pins), dict(self.registers)
        two = {name: self.depth(name) == 2 for name in "AB"}
        coming = {
            "a1": (v["a_in"], "A", "A1"), "a2": (r["a1"] if two["A"] else v["a_in"], "A", "A2"),
            "b1": (v["b_in"], "B", "B1"), "b2": (r["b1"] if two["B"] else v["b_in"], "B", "B2"),
            "c": (v["c"], "C", "C"), "d": (v["d"], "D", "D"), "ad": (v["ad"], "D", "AD"), "m": (v["m"], "M", "M"),
            "p": (v["p"], "P", "P"), "opmode": (pins["OPMODE"], "CTRL", "CTRL"),
            "carry": (pins["CARRYIN"], "ALLCARRYIN", "CARRYIN"),
        }  # fmt: skip
        for name, (value, reset, enable) in coming.items():
            if pins[f"RST{reset}"]:
                self.registers[name] = 0
            elif pins[f"CE{enable}"]:
                self.registers[name] = value
        return v["P"], v["ACOUT"], v["BCOUT"]


ENABLES = ("A1", "A2", "AD", "ALUMODE", "B1", "B2", "C", "CARRYIN", "CTRL", "D", "INMODE", "M", "P")
RESETS = ("A", "ALLCARRYIN", "ALUMODE", "B", "C", "CTRL", "D", "INMODE", "M", "P")
CONTROL = ("ALUMODEREG", "INMODEREG", "CARRYINSELREG")  # of constants here: their registers are not modelled


def pins_of(kind: str) -> dict[str, int]:
    """Widths of the input pins that are driven."""
    width, opmode = SIZES[kind]
    pins = {"A": 30, "ACIN": 30, "B": 18, "BCIN": 18, "C": 48, "PCIN": 48, "D": width, "INMODE": 5, "OPMODE": opmode}
    pins |= {"ALUMODE": 4, "CARRYINSEL": 3, "CARRYIN": 1, "CARRYCASCIN": 1, "MULTSIGNIN": 1}
    return pins | dict.fromkeys([f"CE{name}" for name in ENABLES] + [f"RST{name}" for name in RESETS], 1)


def simulate(folder: Path, kind: str, model: str, parameters: dict[str, int | str], words: list[dict[str, int]]) -> str:
    """What one DSP48 shows: P, ACOUT and BCOUT in hexadecimal, a line a cycle."""
    widths = pins_of(kind)
    total = sum(widths.values())
    packed, ports, offset = [0] * len(words), [], 0
    for name, bits in widths.items():
        packed = [word | pins[name] << offset for word, pins in zip(packed, words, strict=True)]
        ports.append(f".{name}(v[{offset + bits - 1}:{offset}])")
        offset += bits
    (folder / "pins.hex").write_text("\n".join(f"{word:x}" for word in packed))
    registers = ("A", "B", "ACASC", "BCASC", "C", "D", "AD", "M", "P", "OPMODE", "CARRYIN")
    given = dict.fromkeys(CONTROL, 0) | {f"{name}REG": 0 for name in registers} | parameters
    said = ", ".join(f'.{n}("{v}")' if isinstance(v, str) else f".{n}({v})" for n, v in given.items())
    testbench = f"""\
module tb;
    reg clk = 0;
    reg [{total - 1}:0] v, words [0:{len(words) - 1}];
    wire [47:0] p;
    wire [29:0] acout;
    wire [17:0] bcout;
    integer i;
    {kind} #({said}) dut (.CLK(clk), {", ".join(ports)}, .P(p), .ACOUT(acout), .BCOUT(bcout));
    initial begin
        $readmemh("pins.hex", words);
        for (i = 0; i < {len(words)}; i = i + 1) begin
            v = words[i];
            #5 $display("%h %h %h", p, acout, bcout);
            clk = 1;
            #5 clk = 0;
        end
        $finish;
    end
endmodule
"""
    (folder / "tb.v").write_text(testbench)
    (folder / "model.v").write_text(model)
    subprocess.run(["iverilog", "-g2009", "-s", "tb", "-o", "t", "tb.v", "model.v"], cwd=folder, check=True)
    return subprocess.run(["vvp", "-n", "t"], cwd=folder, capture_output=True, text=True, check=False).stdout


def stimulus(kind: str, opmodes: list[int], inmode: int) -> list[dict[str, int]]:
    """Random and extreme numbers; registers are reset at first, then hold now and then."""
    generator = random.Random(5)
    words = []
    for cycle in range(CYCLES):
        pins = {name: generator.getrandbits(bits) for name, bits in pins_of(kind).items()}
        for name in ("A", "ACIN", "B", "BCIN", "D"):
            bits = pins_of(kind)[name] if name == "D" else SIZES[kind][0] if name[0] == "A" else 18
            if generator.random() < 0.2:
                pins[name] = generator.choice([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1])
        pins |= {f"CE{name}": int(generator.random() < 0.9) for name in ENABLES}
        pins |= {f"RST{name}": int(cycle < 2 or generator.random() < 0.03) for name in RESETS}
        pins |= {"INMODE": inmode, "ALUMODE": 0, "CARRYINSEL": 0, "OPMODE": generator.choice(opmodes)}
        words.append(pins)
    return words


MAC = [0b010_0101, 0b011_0101]  # Z = P, C
ALL_Z = [z << 4 | 0b0101 for z in (0, 1, 2, 3, 5, 6)]
WIRES: dict[str, int | str] = {}
ONE = {"AREG": 1, "BREG": 1, "ACASCREG": 1, "BCASCREG": 1, "MREG": 1, "PREG": 1}
TWO = {"AREG": 2, "BREG": 2, "ACASCREG": 1, "BCASCREG": 1, "MREG": 1, "PREG": 1, "CREG": 1, "CARRYINREG": 1}
# With the OPMODE register, whose reset selects 0 everywhere.
DEEP = {**TWO, "ACASCREG": 2, "BCASCREG": 2, "OPMODEREG": 1, "A_INPUT": "CASCADE", "B_INPUT": "CASCADE"}
PRE = {"DREG": 1, "ADREG": 1, "AREG": 2, "ACASCREG": 2, "BREG": 2, "BCASCREG": 2, "MREG": 1, "PREG": 1}
# Attributes, OPMODEs, INMODE
E1 = [
    (WIRES, [0b000_0101, 0b001_0101, 0b011_0101, 0b101_0101], 0),
    (ONE, MAC, 0),
    (TWO, ALL_Z, 0),
    (DEEP, ALL_Z, 0),
    ({**PRE, "USE_DPORT": "TRUE"}, ALL_Z, 4),
    ({"USE_DPORT": "TRUE", "PREG": 1}, ALL_Z, 0),
]
ALL_WZ = [w << 7 | z for w in range(4) for z in ALL_Z]
E2 = [
    (WIRES, [0b000_0101, 0b001_0101, 0b011_0101, 0b101_0101], 0),
    (ONE, [w << 7 | z for w in (0, 1) for z in ALL_Z], 0),
    ({**TWO, "RND": 0x123456789ABC}, ALL_WZ, 0),
    (DEEP, ALL_WZ, 0),
    ({**ONE, "OPMODEREG": 1, "IS_OPMODE_INVERTED": 0x80}, [0b000_0101, 0b1_000_0101, 0b001_0101, 0b1_001_0101], 0),
    ({**PRE, "AMULTSEL": "AD"}, ALL_WZ, 4),
    ({"AMULTSEL": "AD", "PREG": 1}, ALL_WZ, 0),
]
CASES = [("DSP48E1", "ours", *case) for case in E1] + [("DSP48E1", "yosys", *case) for case in E1]
CASES += [("DSP48E2", "ours", *case) for case in E2]


@pytest.mark.parametrize(("kind", "whose", "parameters", "opmodes", "inmode"), CASES)
class TestModel:
    pytestmark = needs_icarus

    def test_equals_the_equations(
        self, tmp_path: Path, kind: str, whose: str, parameters: dict[str, int | str], opmodes: list[int], inmode: int
    ) -> None:
        if whose == "yosys" and not PYOSYS:
            pytest.skip("the extra synth is not installed")
        text = models()[kind]
        if whose == "yosys":
            found = re.search(
                rf"^module {kind}.*?^endmodule", (yosys_share() / "xilinx" / "cells_sim.v").read_text(), re.M | re.S
            )
            assert found
            text = found[0]
        words = stimulus(kind, opmodes, inmode)
        lines = simulate(tmp_path, kind, text, parameters, words).split("\n")[:-1]
        dsp = Dsp48(kind, parameters)
        expected = [dsp.step(pins) for pins in words]
        assert len(lines) == CYCLES, lines[-1]
        settled = 4  # resets, through two registers
        for cycle in range(settled, CYCLES):
            assert tuple(int(field, 16) for field in lines[cycle].split()) == expected[cycle], cycle
        assert len({p for p, _, _ in expected}) > CYCLES // 3


@pytest.mark.parametrize(
    ("kind", "parameters", "pins"),
    [
        (kind, parameters, pins)
        for kind in SIZES
        for parameters, pins in (
            ({"USE_SIMD": "TWO24"}, {}),
            ({"INMODEREG": 1}, {}),
            ({"PREG": 1}, {"ALUMODE": 3}),
            ({"PREG": 1}, {"OPMODE": 0b0110011}),
            ({"PREG": 1}, {"INMODE": 8}),
            ({}, {"OPMODE": 0b0100101}),
        )
    ],
)
class TestStop:
    pytestmark = needs_icarus

    def test_models_stop_at_other_modes(
        self, tmp_path: Path, kind: str, parameters: dict[str, int | str], pins: dict[str, int]
    ) -> None:
        words = [word | pins for word in stimulus(kind, [0b0000101], 0)]
        log = simulate(tmp_path, kind, models()[kind], parameters, words)
        assert f"{kind}: a mode that this model does not have" in log
        assert len(log.split("\n")) < 6


def bare_array(cells: str, **size: object) -> AxiBareArray:
    return AxiBareArray(BareArray(ArrayConfig(cells=cells, **size)))  # type: ignore[arg-type]


UINT8, INT16, UINT16 = (IntFormat.parse(name) for name in ("uint8", "int16", "uint16"))


class TestPacking:
    """The netlists' DSPs hold the operands' registers, product, additions and accumulator; the fabric adds nothing."""

    pytestmark = needs_yosys

    @pytest.mark.parametrize(
        ("cells", "target", "depth", "formats"),
        [
            ("xilinx", "xilinx-xc7", 1, (INT8, INT8, 32)),
            ("xilinx", "xilinx-xc7", 1, (UINT8, INT8, 20)),
            ("xilinx", "xilinx-xc7", 1, (UINT8, UINT8, 32)),
            ("xilinx", "xilinx-xc7", 1, (INT16, UINT16, 48)),
            ("dsp48e2", "xilinx-xcup", 1, (INT8, INT8, 32)),
            ("dsp48e2", "xilinx-xcup", 3, (UINT16, INT16, 48)),
        ],
    )
    def test_no_carry_is_left_in_the_fabric(
        self, cells: str, target: str, depth: int, formats: tuple[IntFormat, IntFormat, int]
    ) -> None:
        a, b, bits = formats
        config = ArrayConfig(cells=cells, depth=depth, a=a, b=b, accumulator_bits=bits)
        folder = synthesized(emit_verilog(Mac(config), "mac"), "mac", open_target(target))
        figures = cell_figures(folder)
        assert figures["dsp"] == depth
        assert figures["carries"] == figures["ff"] == figures["lut_sites"] == 0

    def test_a_chain_of_dsp48e1_leaves_the_accumulator(self) -> None:
        config = ArrayConfig(cells="xilinx", depth=3)
        figures = cell_figures(synthesized(emit_verilog(Mac(config), "mac"), "mac", open_target("xilinx-xc7")))
        assert figures["dsp"] == 3
        assert figures["carries"] == figures["ff"] == 32

    @pytest.mark.parametrize(("cells", "target"), [("xilinx", "xilinx-xc7"), ("dsp48e2", "xilinx-xcup")])
    def test_array(self, cells: str, target: str) -> None:
        folder = synthesized(emit_verilog(bare_array(cells, rows=2, cols=2), "array"), "array", open_target(target))
        figures = cell_figures(folder)
        assert figures["dsp"] == 4
        assert figures["carries"] == 0
        assert figures["lut_sites"] < 80  # the drain chain's multiplexers, 32 an element below the top
        shadow, chain, operands = 4 * 32, 2 * 32, 4 * 2 * 8
        assert figures["ff"] < shadow + chain + operands + 80  # streams and skew

    def test_two_products_in_each_dsp(self) -> None:
        """Three columns: two share cells, the third's have room for another."""
        array = bare_array("dsp48e2-pair", rows=2, cols=3, depth=2)
        figures = cell_figures(synthesized(emit_verilog(array, "array"), "array", open_target("xilinx-xcup")))
        assert figures["dsp"] == 2 * 2 * 2
        assert figures["carries"] == 2 * 3 * 32  # an accumulator for each sum, and nothing before it

    def test_ultrascale_is_not_packed_by_inference(self) -> None:
        """Why DSP48E2 is wired up by name. Where this fails, Yosys has learnt it, and `dsp48e2` may go."""
        folder = synthesized(emit_verilog(Mac(ArrayConfig(cells="xilinx")), "mac"), "mac", open_target("xilinx-xcup"))
        assert cell_figures(folder)["carries"] == 32


class Compared(wiring.Component):
    """A multiply-accumulate of two columns, and two portable ones: their sums for the same operands, in one cycle."""

    def __init__(self, config: ArrayConfig) -> None:
        self.pair = config
        self.portable = config.replace(cells="portable")
        sums = data.ArrayLayout(signed_shape(config.accumulator_bits), 2)
        super().__init__(
            {
                "a": In(operand_layout(config.a, config.depth)),
                "b": In(data.ArrayLayout(operand_layout(config.b, config.depth), 2)),
                "first": In(1),
                "found": Out(sums),
                "expected": Out(sums),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        whole = Mac.latency_of(self.portable) + Mac.spread_of(self.portable)
        late = Mac.latency_of(self.pair) + Mac.spread_of(self.pair) - whole
        for column in range(2):
            m.submodules[f"portable_{column}"] = mac = Mac(self.portable)
            clear = delay(m, self.first, Mac.clear_delay_of(self.portable), name=f"clear_{column}")
            m.d.comb += [mac.a.eq(self.a), mac.b.eq(self.b[column]), mac.clear.eq(clear)]
            total = together(m, mac.sum, Mac.parts_of(self.portable), name=f"total_{column}")
            m.d.comb += self.expected[column].eq(delay(m, total, late, name=f"expected_{column}"))
        m.submodules.pair = pair = Mac(self.pair)
        columns = []
        for name, operands, wait in (("a", self.a, 1), ("b_0", self.b[0], 0), ("b_1", self.b[1], 1)):
            m.submodules[f"skew_{name}"] = skew = Skew(operands.shape(), kind=f"skew_{name}")
            m.d.comb += Value.cast(skew.word).eq(delay(m, Value.cast(operands), wait, name=name))
            columns.append(Value.cast(skew.out))
        m.d.comb += [Value.cast(pair.a).eq(columns[0]), Value.cast(pair.b).eq(Cat(columns[1:]))]
        m.d.comb += pair.clear.eq(delay(m, self.first, Mac.clear_delay_of(self.pair), name="clear"))
        m.d.comb += Value.cast(self.found).eq(together(m, pair.sum, Mac.parts_of(self.pair), name="found"))
        return m


PAIRS = [  # first chains of cells whose sums need a bias and a carry, as no others here
    (8, "int8", "int8", 32), (1, "int8", "int8", 32), (2, "int8", "uint8", 24), (3, "uint8", "int8", 32),
    (4, "uint8", "uint8", 32), (5, "uint8", "uint8", 20), (9, "int8", "int8", 48), (1, "uint8", "uint8", 17),
    (6, "int4", "int8", 18), (3, "int2", "int2", 5), (17, "uint8", "int8", 32), (2, "uint2", "int7", 16),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.parametrize(("depth", "a", "b", "bits"), PAIRS)
def test_pair_equals_two_portable_forms(tmp_path: Path, depth: int, a: str, b: str, bits: int) -> None:
    config = ArrayConfig(
        depth=depth, a=IntFormat.parse(a), b=IntFormat.parse(b), accumulator_bits=bits, cells="dsp48e2-pair"
    )

    def least(operand: IntFormat) -> int:
        return operand.min & (1 << operand.bits) - 1

    def filled(value: int, count: int, operand: IntFormat) -> str:
        return f"{{{count}{{{operand.bits}'d{value}}}}}"

    a_extremes = [filled(value, depth, config.a) for value in (least(config.a), config.a.max)]
    b_extremes = [filled(value, depth, config.b) for value in (least(config.b), config.b.max)]
    (tmp_path / "tb.v").write_text(f"""\
module tb;
    reg clk = 0, first;
    reg [{depth * config.a.bits - 1}:0] a;
    reg [{2 * depth * config.b.bits - 1}:0] b;
    wire [{2 * bits - 1}:0] found, expected;
    integer i, right = 0;
    dut dut (.clk(clk), .a(a), .b(b), .first(first), .found(found), .expected(expected));
    initial begin
        for (i = 0; i < 3000; i = i + 1) begin
            a = {{{depth}{{$urandom}}}};
            b = {{{2 * depth}{{$urandom}}}};
            if (i % 5 == 1 || i % 200 > 150) begin  // extremes, now and then for long
                a = $urandom % 2 ? {a_extremes[0]} : {a_extremes[1]};
                b = $urandom % 4 ? {b_extremes[0]} : {b_extremes[1]};
                b = {{b[{depth * config.b.bits - 1}:0], {depth * config.b.bits}'d0}};
                b = b | ($urandom % 4 ? {b_extremes[0]} : {b_extremes[1]});
            end
            first = i == 0 || ($urandom % 9 == 0 && i % 1000 < 500);
            #5 if (i >= 100 && found === expected) right = right + 1;
            clk = 1;
            #5 clk = 0;
        end
        $display("%0d", right);
        $finish;
    end
endmodule
""")
    (tmp_path / "dut.v").write_text(emit_verilog(Compared(config), "dut"))
    sources = ["tb.v", "dut.v", *map(str, model_files("dsp48e2-pair"))]
    subprocess.run(["iverilog", "-g2005", "-s", "tb", "-o", "t", *sources], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert log.strip() == "2900"


def test_pair_takes_operands_of_eight_bits() -> None:
    with pytest.raises(ValueError, match="b must have at most 8 bits with cells 'dsp48e2-pair', not 9"):
        ArrayConfig(b=IntFormat.parse("int9"), cells="dsp48e2-pair")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


class TestNetlist:
    pytestmark = needs_both

    @pytest.mark.parametrize(
        ("family", "cells", "depth"),
        [
            ("xc7", "xilinx", 3),
            ("xc7", "portable", 2),
            ("xcup", "dsp48e2", 3),
            ("xcup", "dsp48e2-pair", 2),
            ("xcup", "xilinx", 1),
        ],
    )
    def test_simulates_bit_for_bit(
        self, small: tuple[Path, Path], tmp_path: Path, family: str, cells: str, depth: int
    ) -> None:
        arguments = ["--input", small[1], "--netlist", family, "--cells", cells, "--rows", 2, "--cols", 3]
        arguments += ["--depth", depth, "--stalls", 0.3, "--simulator", "icarus", "--report", tmp_path / "r.json"]
        result = call("simulate", small[0], *arguments)
        assert result.exit_code == 0, (result.output, result.exception)
        report = json.loads((tmp_path / "r.json").read_text())
        assert (report["outputs"], report["mismatches"], report["netlist"]) == (45, 0, family)
        assert report["array"]["cells"] == cells

    def test_cells_must_suit_the_family(self, small: tuple[Path, Path]) -> None:
        result = call("simulate", small[0], "--input", small[1], "--netlist", "xc7", "--cells", "dsp48e2")
        assert result.exit_code != 0
        assert "cells must be one of portable, xilinx for xilinx-xc7" in result.output

    @pytest.mark.usefixtures("short_testbenches")
    def test_layer_passes_its_own_testbench(self, tmp_path: Path, arrays: dict[str, Any]) -> None:
        options = LayerOptions(rows=1, cols=2, depth=8, requantizer="auto", cells="dsp48e2")
        design = LayerDesign(MatMulLayer(name="tiny", **arrays), options, name="fc")
        (testbench,) = (text for name, text in make_package(design).files.items() if name.endswith("_tb.v"))
        (tmp_path / "fc_tb.v").write_bytes(testbench)
        one_round(tmp_path)
        for index, text in enumerate(netlist_sources(design.verilog, "fc", "xcup")):
            (tmp_path / f"netlist_{index}.v").write_text(text)
        subprocess.run(["iverilog", "-g2005", "-o", "t", *map(str, tmp_path.glob("*.v"))], cwd=tmp_path, check=True)
        log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert "PASS" in log, log


# Rows, columns, depth: odd columns, a single one, depths that take more than one chain of pairs
SHAPES = [("dsp48e2", 2, 3, 3), ("dsp48e2-pair", 1, 1, 1), ("dsp48e2-pair", 3, 5, 2), ("dsp48e2-pair", 2, 4, 9)]
RUNS = [("icarus", *shape) for shape in SHAPES] + [("verilator", *SHAPES[0]), ("verilator", *SHAPES[2])]


class TestCosimulation:
    pytestmark = needs_icarus

    @pytest.mark.sampled(12)
    @pytest.mark.parametrize(("simulator", "cells", "rows", "cols", "depth"), RUNS)
    @pytest.mark.parametrize("source", ["layer", "array"])
    def test_with_pauses(
        self, small: tuple[Path, Path], tmp_path: Path, source: str, simulator: str, cells: str, rows: int, cols: int,
        depth: int,
    ) -> None:  # fmt: skip
        if not find(simulator).found:
            pytest.skip(f"{simulator} is not installed")
        given = small[1]
        if source == "array":
            generator = np.random.default_rng(1)
            a, b = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((7, 20), (20, 6)))
            a[0], b[:, :4], b[:, 4] = -128, -128, 127
            given = tmp_path / "ab.npz"
            np.savez(given, a=a, b=b)
        arguments = ["--input", given, "--cells", cells, "--rows", rows, "--cols", cols, "--depth", depth]
        arguments += ["--stalls", 0.3, "--simulator", simulator, "--report", tmp_path / "r.json"]
        result = call("simulate", small[0] if source == "layer" else "array", *arguments)
        assert result.exit_code == 0, (result.output, result.exception)
        report = json.loads((tmp_path / "r.json").read_text())
        assert (report["outputs"], report["mismatches"]) == (45 if source == "layer" else 42, 0)


@pytest.mark.slow  # cells with their models: the runs above
@pytest.mark.simulator
@pytest.mark.parametrize("whole", [pytest.param(True, marks=pytest.mark.slow), False])
@pytest.mark.parametrize("cells", ["dsp48e2", "dsp48e2-pair"])
def test_emitted_cells_bring_their_model(small: tuple[Path, Path], tmp_path: Path, cells: str, whole: bool) -> None:
    """The testbench passes with it, with each of its phases once or as often as it says."""
    out = tmp_path / "out"
    result = call("emit", small[0], "--out", out, "--cells", cells, "--cols", 2, "--depth", 2, "--name", "fc")
    assert result.exit_code == 0, (result.output, result.exception)
    verified = call("verify", out)
    assert verified.exit_code == 0, verified.output
    log = icarus(out if whole else one_round(out))
    assert "PASS" in log, log
