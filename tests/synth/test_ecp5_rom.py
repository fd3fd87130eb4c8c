"""ECP5's read-only memory: the parameters that hold its words are those that Yosys writes for the same words."""

from __future__ import annotations

import importlib.util
import json
import random

import numpy as np
import pytest

from systoliq.hw.cells.ecp5_ram import WIDTHS, initial_values

VERILOG = """\
module rom(input clk, input [{address}:0] at, output reg [{word}:0] q);
  reg [{word}:0] words [0:{last}];
  initial $readmemh("{file}", words);
  always @(posedge clk) q <= words[at];
endmodule
"""


@pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="pyosys is not installed: systoliq[formal]")
@pytest.mark.parametrize(("depth", "width"), WIDTHS.items())
def test_yosys_writes_the_same_parameters(tmp_path, depth, width):
    from pyosys import libyosys

    rng = random.Random(width)
    words = [rng.getrandbits(width) for _ in range(depth)]
    (tmp_path / "words").write_text("\n".join(f"{word:x}" for word in words))
    text = VERILOG.format(address=(depth - 1).bit_length() - 1, word=width - 1, last=depth - 1, file=tmp_path / "words")
    (tmp_path / "rom.v").write_text(text)
    design = libyosys.Design()
    for command in (
        f"read_verilog {tmp_path / 'rom.v'}",
        "hierarchy -top rom",
        "proc; opt; memory -nomap; opt_clean",
        "memory_libmap -lib +/lattice/brams_16kd.txt",
        "techmap -map +/lattice/brams_map_16kd.v",
        f"write_json {tmp_path / 'rom.json'}",
    ):
        design.run_pass(command)
    (cell,) = (
        cell
        for cell in json.loads((tmp_path / "rom.json").read_text())["modules"]["rom"]["cells"].values()
        if cell["type"] == "DP16KD"
    )
    assert int(cell["parameters"]["DATA_WIDTH_A"], 2) == width  # the port that it reads
    theirs = {name: int(value, 2) for name, value in cell["parameters"].items() if name.startswith("INITVAL_")}
    bits = np.array([[word >> bit & 1 for bit in range(width)] for word in words], np.uint8)
    assert theirs == {name.removeprefix("p_"): value.value for name, value in initial_values(bits).items()}
