"""Memory blocks that Yosys infers on Nexus and GateMate: netlists, by models of the cells, read what was written."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from systoliq.synth.families import FAMILIES
from systoliq.synth.netlist import netlist_sources

pytest.importorskip("pyosys", reason="the extra synth is not installed: pip install 'systoliq[synth]'")

# Words and bits of memories: one for each width of a block, one that needs several blocks, and one for a large block
# (LRAM) of Nexus. Those with a seed have initial contents.
MEMORIES = [
    *((512, 36, 0), (1024, 18, 1), (2048, 9, 0), (4096, 4, 2), (8192, 2, 0), (16384, 1, 0)),
    *((700, 20, 3), (9216, 16, 4)),
]
CYCLES = 400


def initial(words: int, bits: int, seed: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.getrandbits(bits) for _ in range(words)] if seed else [0] * words


def design() -> str:
    """A module `memories`, with a write port and a read port of each memory; a word is shown a cycle after its read."""
    ports, bodies = ["input clk"], []
    for i, (words, bits, seed) in enumerate(MEMORIES):
        top, high = (words - 1).bit_length() - 1, bits - 1
        ports += [
            f"input we{i}, re{i}, input [{top}:0] wa{i}, ra{i}",
            f"input [{high}:0] d{i}, output reg [{high}:0] q{i}",
        ]
        contents = "".join(f"m{i}[{at}] = {bits}'d{word}; " for at, word in enumerate(initial(words, bits, seed)))
        bodies.append(
            f"reg [{high}:0] m{i} [0:{words - 1}];\ninitial begin {contents}end\n"
            f"always @(posedge clk) begin if (we{i}) m{i}[wa{i}] <= d{i}; if (re{i}) q{i} <= m{i}[ra{i}]; end\n"
        )
    return f"module memories({', '.join(ports)});\n{''.join(bodies)}endmodule\n"


def stimulus() -> list[list[tuple[int, int, int, int, int]]]:
    """For each cycle and memory: write, read, both addresses, and the word; few addresses, so that words are read."""
    generator, lines = random.Random(7), []
    places = [[0, words - 1, *generator.sample(range(words), 10)] for words, _, _ in MEMORIES]
    for _ in range(CYCLES):
        line = []
        for (_, bits, _), addresses in zip(MEMORIES, places, strict=True):
            write, read = generator.sample(addresses, 2)
            line.append((generator.getrandbits(1), generator.getrandbits(1), write, read, generator.getrandbits(bits)))
        lines.append(line)
    return lines


def expected(lines: list[list[tuple[int, int, int, int, int]]]) -> list[list[int | None]]:
    """The words that are shown after each cycle; None before the first read."""
    contents = [initial(*memory) for memory in MEMORIES]
    shown: list[int | None] = [None] * len(MEMORIES)
    found = []
    for line in lines:
        for i, (writes, reads, to, at, word) in enumerate(line):
            if reads:
                shown[i] = contents[i][at]
            if writes:
                contents[i][to] = word
        found.append(list(shown))
    return found


def bench(lines: list[list[tuple[int, int, int, int, int]]]) -> str:
    """A testbench that prints all words after each cycle."""
    declared, pins, shown = [], [".clk(clk)"], []
    for i, (words, bits, _) in enumerate(MEMORIES):
        declared.append(f"reg we{i}, re{i}; reg [{(words - 1).bit_length() - 1}:0] wa{i}, ra{i};")
        declared.append(f"reg [{bits - 1}:0] d{i}; wire [{bits - 1}:0] q{i};")
        pins += [f".{name}{i}({name}{i})" for name in ("we", "re", "wa", "ra", "d", "q")]
        shown.append(f"q{i}")
    steps = []
    for line in lines:
        steps += [
            f"we{i} = {w}; re{i} = {r}; wa{i} = {to}; ra{i} = {at}; d{i} = {bits}'d{word};"
            for i, ((w, r, to, at, word), (_, bits, _)) in enumerate(zip(line, MEMORIES, strict=True))
        ]
        steps.append(f'#1 clk = 1; #1 clk = 0; $display("{" %d" * len(shown)}", {", ".join(shown)});')
    return "module tb;\nreg clk = 0;\n{}\nmemories dut({});\ninitial begin\n#1;\n{}\nend\nendmodule\n".format(
        "\n".join(declared), ", ".join(pins), "\n".join(steps)
    )


@pytest.mark.slow
@pytest.mark.parametrize("family", ["nexus", "gatemate"])
def test_inferred_memories_read_what_was_written(family, tmp_path):
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus is missing: apt-get install iverilog")
    lines = stimulus()
    netlist, models = netlist_sources(design(), "memories", family)
    assert any(kind in netlist for kind in FAMILIES[family].cells.memories)
    assert ("DPSC512K #(" in netlist) == (family == "nexus")
    for name, text in (("netlist.v", netlist), ("models.v", models), ("tb.v", bench(lines))):
        (tmp_path / name).write_text(text)
    subprocess.run(["iverilog", "-g2005", "-o", "t", "netlist.v", "models.v", "tb.v"], cwd=tmp_path, check=True)
    printed = subprocess.run(["vvp", "-n", "t"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    found = [line.split() for line in printed.splitlines() if line.startswith(" ")]
    wanted = expected(lines)
    assert len(found) == len(wanted)
    for cycle, (words, right) in enumerate(zip(found, wanted, strict=True)):
        assert all(b is None or a == str(b) for a, b in zip(words, right, strict=True)), (cycle, words, right)
