"""Models of vendor cells in simulation."""

from __future__ import annotations

import importlib.util
import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

PYOSYS = importlib.util.find_spec("pyosys")
SEED = 3


def icarus(folder: Path, *texts: str, top: str = "tb") -> str:
    """What the simulation of module `top` prints."""
    for index, text in enumerate(texts):
        (folder / f"source_{index}.v").write_text(text)
    files = [f"source_{index}.v" for index in range(len(texts))]
    subprocess.run(["iverilog", "-g2005", "-s", top, "-o", "t", *files], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True).stdout


def bits_signed(value: int, bits: int, is_signed: bool) -> int:
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def operands(bits: int, count: int = 300) -> list[tuple[int, int]]:
    """Random pairs, and each of the extreme ones."""
    generator = random.Random(SEED)
    extremes = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    pairs = [(a, b) for a in extremes for b in extremes]
    return pairs + [(generator.getrandbits(bits), generator.getrandbits(bits)) for _ in range(count)]


def run_multiplier(folder: Path, model: str, instance: str, bits: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The output `p` in each cycle, before its rising edge; pair i is there in cycle i. -1 where it is unknown."""
    (folder / "pairs.hex").write_text("\n".join(f"{a << bits | b:x}" for a, b in pairs))
    testbench = f"""\
module tb;
    reg clk = 0;
    reg [{bits - 1}:0] a, b;
    reg [{2 * bits - 1}:0] pairs [0:{len(pairs) - 1}];
    wire [{2 * bits - 1}:0] p;
    integer i;
    {instance}
    initial begin
        $readmemh("pairs.hex", pairs);
        for (i = 0; i < {len(pairs)}; i = i + 1) begin
            {{a, b}} = pairs[i];
            #5 $display("%h", p);
            clk = 1;
            #5 clk = 0;
        end
        $finish;
    end
endmodule
"""
    lines = icarus(folder, testbench, model).splitlines()
    return [-1 if "x" in line else int(line, 16) for line in lines if re.fullmatch("[0-9a-fx]+", line)]


def check_products(
    found: list[int], pairs: Sequence[tuple[int, int]], bits: int, signs: tuple[bool, bool], latency: int
) -> None:
    expected = [bits_signed(a, bits, signs[0]) * bits_signed(b, bits, signs[1]) % (1 << (2 * bits)) for a, b in pairs]
    assert found[latency:] == expected[: len(pairs) - latency]


def yosys_model(family: str, *files: str) -> str:
    from systoliq.synth.tools import yosys_share

    return "".join((yosys_share() / family / file).read_text() for file in files)


every_sign = pytest.mark.parametrize("signs", [(True, True), (True, False), (False, True), (False, False)])
