"""ALU54B: our model against the cell's equations in Python integers; `alu54b`; arrays of it."""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from amaranth.back import verilog
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw import cells
from systoliq.hw.cells.ecp5_alu import alu54b

icarus_only = pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")

MODELS = [Path(cells.__file__).parent / "models" / f"{name}.v" for name in ("alu54b", "mult18x18d")]
SEED = 5
CYCLES = 600


def simulate(folder: Path, *texts: str) -> list[str]:
    """The lines that module `tb` prints."""
    for index, text in enumerate(texts):
        (folder / f"source_{index}.v").write_text(text)
    files = [*(f"source_{index}.v" for index in range(len(texts))), *map(str, MODELS)]
    subprocess.run(["iverilog", "-g2005", "-s", "tb", "-o", "t", *files], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


# What a testbench drives in a cycle, from the lowest bit up: name and bits.
PINS = {"rst": 1, "ce": 1, "op": 11, "signedia": 1, "signedib": 1, "ma": 36, "mb": 36}


def cell_testbench(parameters: str, vectors: list[dict[str, int]]) -> str:
    wires = {"OP": ("op", 11), "MA": ("ma", 36), "MB": ("mb", 36), "R": ("r", 54)}
    pins = [f".{port}{i}({name}[{i}])" for port, (name, bits) in wires.items() for i in range(bits)]
    pins += [".CLK0(clk)", ".CE0(ce)", ".RST0(rst)", ".SIGNEDIA(signedia)", ".SIGNEDIB(signedib)"]
    total = sum(PINS.values())
    declared = "\n    ".join(f"reg [{bits - 1}:0] {name};" for name, bits in PINS.items())
    drives = []
    for vector in vectors:
        word, low = 0, 0
        for name, bits in PINS.items():
            word |= vector[name] << low
            low += bits
        drives.append(f"        drive({total}'h{word:x});")
    return f"""\
module tb;
    reg clk = 0;
    {declared}
    wire [53:0] r;
    ALU54B #({parameters}) dut ({", ".join(pins)});
    task drive(input [{total - 1}:0] word); begin
        {{{", ".join(reversed(PINS))}}} = word;
        #5 clk = 1;
        #5 clk = 0;
        $display("%h", r);
    end endtask
    initial begin
{chr(10).join(drives)}
        $finish;
    end
endmodule
"""


def selection(first: bool, second: bool, held: bool) -> int:
    """OP10 to OP0 of an addition of these."""
    return 0b0100 << 7 | (0b101 if held else 0) << 4 | (0b01 if second else 0b11) << 2 | (0b01 if first else 0b11)


def random_vectors(*, resets: bool) -> list[dict[str, int]]:
    """A reset of the selection's registers would select what the model does not have."""
    generator = random.Random(SEED)
    extremes = [0, 1, (1 << 36) - 1, 1 << 35, (1 << 35) - 1]
    vectors = []
    for cycle in range(CYCLES):
        chosen = [generator.random() < share for share in (0.8, 0.8, 0.9)]
        product = [
            generator.choice(extremes) if generator.random() < 0.3 else generator.getrandbits(36) for _ in range(2)
        ]
        if cycle < 4:
            chosen[2] = False
        vectors.append(
            {
                "rst": int(resets and generator.random() < 0.02),
                "ce": int(cycle < 4 or generator.random() < 0.9),
                "op": selection(*chosen),
                "signedia": int(generator.random() < 0.7),
                "signedib": int(generator.random() < 0.7),
                "ma": product[0],
                "mb": product[1],
            }
        )
    return vectors


@icarus_only
@pytest.mark.simulator
@pytest.mark.parametrize("registers", [(), ("0",), ("1",), ("0", "1")])
def test_the_model_adds_what_is_selected(tmp_path: Path, registers: tuple[str, ...]) -> None:
    names = ["OUTPUT0", "OUTPUT1", *(f"OPCODEIN_{stage}" for stage in registers)]
    vectors = random_vectors(resets=not registers)
    lines = simulate(tmp_path, cell_testbench(", ".join(f'.REG_{name}_CLK("CLK0")' for name in names), vectors))
    r, chosen = 0, [0] * len(registers)
    for cycle, (vector, line) in enumerate(zip(vectors, lines, strict=True)):
        chosen.append(vector["op"] & 127)
        used = chosen[0]
        if vector["ce"] or vector["rst"]:
            chosen.pop(0)
        else:
            chosen.pop()
        total = 0
        for sign, product, shift in (("signedia", "ma", 0), ("signedib", "mb", 2)):
            if used >> shift & 3 == 1:
                total += signed(vector[product], 36) if vector[sign] else vector[product]
        if used >> 4:
            total += signed(r, 52)
        if vector["rst"]:
            r = 0
        elif vector["ce"]:
            r = total % (1 << 54)
        if cycle > 3:  # until then, nothing is known but what a reset makes known
            assert int(line, 16) == r, cycle


@icarus_only
@pytest.mark.simulator
def test_52_bits_of_a_sum_come_back(tmp_path: Path) -> None:
    vector = dict.fromkeys(PINS, 0) | {"ce": 1, "ma": (1 << 36) - 1, "mb": (1 << 36) - 1}
    vectors = [vector | {"op": selection(True, True, held)} for held in (False, True)]
    cycles = 1 << 16
    text = cell_testbench('.REG_OUTPUT0_CLK("CLK0"), .REG_OUTPUT1_CLK("CLK0")', vectors)
    text = text.replace(
        "        $finish;", f"        for (i = 2; i < {cycles}; i = i + 1) drive(last);\n        $finish;"
    )
    last = text.split("drive(")[-2].split(")")[0]
    text = text.replace("drive(last)", f"drive({last})").replace("reg clk = 0;", "reg clk = 0;\n    integer i;")
    lines = simulate(tmp_path, text)
    assert len(lines) == cycles
    r = 0
    for line in lines:
        r = (2 * ((1 << 36) - 1) + signed(r, 52)) % (1 << 54)
        assert int(line, 16) == r


@icarus_only
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("parameters", "op"),
    [
        ('.REG_OUTPUT0_CLK("CLK0")', selection(True, True, True)),
        ('.REG_OUTPUT0_CLK("CLK0"), .REG_OUTPUT1_CLK("CLK0"), .RESETMODE("ASYNC")', selection(True, True, True)),
        (
            '.REG_OUTPUT0_CLK("CLK0"), .REG_OUTPUT1_CLK("CLK0"), .REG_OPCODEOP0_0_CLK("CLK0")',
            selection(True, True, True),
        ),
        ('.REG_OUTPUT0_CLK("CLK0"), .REG_OUTPUT1_CLK("CLK0")', selection(True, True, True) | 1 << 7),
        ('.REG_OUTPUT0_CLK("CLK0"), .REG_OUTPUT1_CLK("CLK0")', selection(True, True, True) ^ 0b11),
        ('.REG_OUTPUT0_CLK("CLK0"), .REG_OUTPUT1_CLK("CLK0")', selection(True, True, False) | 1 << 5),
    ],
)
def test_the_model_stops_at_other_modes(tmp_path: Path, parameters: str, op: int) -> None:
    vectors = [dict.fromkeys(PINS, 0) | {"ce": 1, "op": op}] * 3
    lines = simulate(tmp_path, cell_testbench(parameters, vectors))
    assert any("does not have" in line for line in lines)
    assert len(lines) < 4


class Adder(wiring.Component):
    """`alu54b` as a component."""

    def __init__(self, a_bits: int, b_bits: int, count: int, total_bits: int, *, keeps: bool) -> None:
        self.count = count
        self.keeps = keeps
        super().__init__({
            "a": In(count * a_bits), "b": In(count * b_bits), "keep": In(1), "total": Out(total_bits),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        m = Module()
        a, b = ([side.word_select(i, len(side) // self.count) for i in range(self.count)] for side in (self.a, self.b))
        used = Signal()
        m.d.sync += used.eq(self.keep)  # as the operands: from a register
        for name, instance in alu54b(a, b, self.total, keep=used if self.keeps else None).items():
            m.submodules[name] = instance
        return m


# (bits of A, of B, products, bits of the sum, whether it is kept)
ADDERS = [
    (8, 8, 2, 32, True),
    (8, 8, 1, 32, True),
    (9, 8, 2, 24, True),
    (17, 17, 2, 48, True),
    (2, 3, 2, 52, True),
    (18, 18, 2, 37, False),
    (9, 9, 1, 18, False),
]


@icarus_only
@pytest.mark.simulator
@pytest.mark.parametrize(("a_bits", "b_bits", "count", "total_bits", "keeps"), ADDERS)
def test_sums_of_products(tmp_path: Path, a_bits: int, b_bits: int, count: int, total_bits: int, keeps: bool) -> None:
    adder = Adder(a_bits, b_bits, count, total_bits, keeps=keeps)
    generator = random.Random(SEED)
    vectors = []
    for cycle in range(CYCLES):
        least = [sum(1 << (bits * i + bits - 1) for i in range(count)) for bits in (a_bits, b_bits)]
        pair = least if generator.random() < 0.4 else [generator.getrandbits(count * bits) for bits in (a_bits, b_bits)]
        vectors.append((*pair, int(cycle > 0 and generator.random() < 0.97)))
    drives = "\n".join(
        f"        drive({count * a_bits}'d{a}, {count * b_bits}'d{b}, 1'b{keep});" for a, b, keep in vectors
    )
    testbench = f"""\
module tb;
    reg clk = 0;
    reg [{count * a_bits - 1}:0] a;
    reg [{count * b_bits - 1}:0] b;
    reg keep;
    wire [{total_bits - 1}:0] total;
    dut dut (.clk(clk), .rst(1'b0), .a(a), .b(b), .keep(keep), .total(total));
    task drive(input [{count * a_bits - 1}:0] next_a, input [{count * b_bits - 1}:0] next_b, input next_keep); begin
        a = next_a;
        b = next_b;
        keep = next_keep;
        #5 $display("%h", total);
        clk = 1;
        #5 clk = 0;
    end endtask
    initial begin
{drives}
        $finish;
    end
endmodule
"""
    text = verilog.convert(adder, name="dut", emit_src=False, strip_internal_attrs=True)
    if "rst" not in text:
        testbench = testbench.replace(" .rst(1'b0),", "")
    lines = simulate(tmp_path, testbench, text)
    total = 0
    for (a, b, keep), line in zip(vectors, lines[3:], strict=False):
        products = [signed(a >> a_bits * i, a_bits) * signed(b >> b_bits * i, b_bits) for i in range(count)]
        total = sum(products) + (total if keeps and keep else 0)
        assert int(line, 16) == total % (1 << total_bits)


def test_what_does_not_fit_the_cell_is_named() -> None:
    wide, total = Signal(19), Signal(53)
    with pytest.raises(ValueError, match="operands must have at most 18 bits, not 19"):
        alu54b([wide], [wide], total)
    with pytest.raises(ValueError, match="total must have at most 52 bits, not 53"):
        alu54b([wide[:18]], [wide[:18]], total)
    with pytest.raises(ValueError, match="there must be one or two pairs"):
        alu54b([wide] * 3, [wide] * 3, total)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed")
def test_an_array_of_them_is_placed_and_routed() -> None:
    from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
    from systoliq.synth import Block, synthesize

    def report(depth: int, cells: str) -> tuple[int, int]:
        config = ArrayConfig(rows=1, cols=2, depth=depth, cells=cells)
        found = synthesize(Block(component=AxiBareArray(BareArray(config)), name="array"), "ecp5-25k", seeds=(1,))
        assert found.untimed == (("ALU54B",) if cells == "ecp5-alu" else ())
        return found.lut_sites, found.dsp

    assert report(2, "ecp5-alu")[1] == 2 * (2 + 1)
    assert report(4, "ecp5-alu")[1] == 2 * 2 * (2 + 1)
    for depth in (2, 4):
        assert report(depth, "ecp5-alu")[0] < 0.75 * report(depth, "ecp5")[0]
