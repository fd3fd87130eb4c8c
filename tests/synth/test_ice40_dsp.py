"""The fault of `synth_ice40 -dsp` that docs/yosys_ice40_dsp.md reports: its design, with and without, simulated."""

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
  reg signed [7:0] a, b, c, d;
  wire signed [16:0] y;
  reg signed [16:0] expected;
  integer index, wrong = 0;
  top dut(.clk(clk), .a(a), .b(b), .c(c), .d(d), .y(y));
  initial begin
    for (index = 0; index < 1000; index = index + 1) begin
      a = $random; b = $random; c = $random; d = $random;
      expected = a * b + c * d;
      #1 clk = 1;
      #1 clk = 0;
      if (y !== expected) wrong = wrong + 1;
    end
    $display("%0d of 1000 wrong", wrong);
    $finish;
  end
endmodule
"""


@pytest.mark.slow
@pytest.mark.parametrize(("option", "wrong"), [("", 0), ("-dsp", 1000)])
def test_what_the_report_says(tmp_path: Path, option: str, wrong: int) -> None:
    """If -dsp comes to 0 wrong, Yosys has been mended: say so in the document."""
    output = simulated("yosys_ice40_dsp.md", f"synth_ice40 {option}", "ice40", TESTBENCH, tmp_path)
    assert output.strip() == f"{wrong} of 1000 wrong"
