"""The fault of LATTICE_DSP_NEXUS that docs/yosys_lattice_dsp_nexus.md reports: its design, with and without it."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from .yosys_fault import simulated

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed"),
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
    pytest.mark.simulator,
]

TESTBENCH = """
module tb;
  reg clk = 0;
  reg signed [7:0] a, b, c;
  wire signed [15:0] y, z;
  integer index, wrong_y = 0, wrong_z = 0;
  top dut(.clk(clk), .a(a), .b(b), .c(c), .y(y), .z(z));
  initial begin
    for (index = 0; index < 1000; index = index + 1) begin
      a = $random; b = $random; c = $random;
      #1 clk = 1;
      #1 clk = 0;
      #1 if (y !== a * b) wrong_y = wrong_y + 1;
      if (z !== a * c) wrong_z = wrong_z + 1;
    end
    $display("%0d %0d of 1000 wrong", wrong_y, wrong_z);
    $finish;
  end
endmodule
"""


@pytest.mark.slow
@pytest.mark.parametrize(("option", "wrong"), [("", "992 0"), ("-nodsp", "0 0")])
def test_what_the_report_says(tmp_path: Path, option: str, wrong: str) -> None:
    """If the first is 0, too, Yosys has been mended: say so in the document."""
    command = f"synth_lattice -family lifcl -noiopad {option}"
    output = simulated("yosys_lattice_dsp_nexus.md", command, "nexus", TESTBENCH, tmp_path)
    assert output.strip() == f"{wrong} of 1000 wrong"
