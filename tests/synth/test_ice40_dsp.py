"""The fault of `synth_ice40 -dsp` that docs/yosys_ice40_dsp.md reports: its design, with and without, simulated."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from systoliq.synth.tools import find_yosys, yosys_share

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed"),
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
    pytest.mark.simulator,
]

DOCUMENT = Path(__file__).parents[2] / "docs" / "yosys_ice40_dsp.md"

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


@pytest.mark.parametrize(("option", "wrong"), [("", 0), ("-dsp", 1000)])
def test_what_the_report_says(tmp_path: Path, option: str, wrong: int) -> None:
    """If -dsp comes to 0 wrong, Yosys has been mended: say so in the document."""
    match = re.search(r"```verilog\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert match is not None
    (tmp_path / "d.v").write_text(match[1])
    (tmp_path / "tb.v").write_text(TESTBENCH)
    script = ["read_verilog d.v", f"synth_ice40 {option} -top top", "write_verilog -noattr n.v"]
    (tmp_path / "s.ys").write_text("\n".join(script))
    done = find_yosys().run("s.ys", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    models = yosys_share() / "ice40" / "cells_sim.v"
    sources = ["-DNO_ICE40_DEFAULT_ASSIGNMENTS", "n.v", str(models), "tb.v"]
    subprocess.run(["iverilog", "-g2012", "-o", "t", *sources], cwd=tmp_path, check=True)
    output = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    assert f"{wrong} of 1000 wrong" in output
