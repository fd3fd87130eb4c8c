"""Examples of docs/integration.md: the wrapper with an active-low reset passes the package's own testbench."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from systoliq.api import write_package
from systoliq.design import open_source

ROOT = Path(__file__).resolve().parents[2]
WRAPPER = ROOT / "examples/active_low_reset.v"

pytestmark = pytest.mark.simulator


def run(folder, *files):
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus is missing")
    subprocess.run(["iverilog", "-g2005", "-Wall", "-Wno-timescale", "-o", "t", *files], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_the_wrapper_passes_the_testbench_of_the_package(tmp_path):
    """With all its resets: the testbench drives `rst`, and the wrapper takes its inverse."""
    folder = write_package(open_source("resnet8-fc"), tmp_path / "fc")
    bench = (folder / "resnet8_fc_tb.v").read_text()
    text = bench.replace("  resnet8_fc dut (", "  fc_top dut (").replace(".clk(clk)", ".aclk(clk)")
    text = text.replace(".rst(rst)", ".aresetn(!rst)")
    text = re.sub(r"\.([sm])_axis_[ay]_(t\w+)\(", r".\1_axis_\2(", text)
    (tmp_path / "tb.v").write_text(text)
    assert text != bench
    assert re.search("^PASS", run(tmp_path, "tb.v", WRAPPER, folder / "resnet8_fc.v"), re.MULTILINE)


def test_the_synchronizer_rises_at_once_and_falls_after_two_edges(tmp_path):
    module = WRAPPER.read_text().partition("// An active-low reset that comes")[2].partition("\n")[2]
    (tmp_path / "tb.v").write_text("""module tb;
  reg clk = 0, aresetn = 1;
  wire rst;
  reset_synchronizer dut (.clk(clk), .aresetn(aresetn), .rst(rst));
  initial begin
    #3 aresetn = 0; #1 $write("%b", rst);
    #3 aresetn = 1; #1 $write("%b", rst);
    repeat (3) begin #1 clk = 1; #1 $write("%b", rst); clk = 0; end
  end
endmodule
""" + module)
    assert run(tmp_path, "tb.v") == "11100"  # in reset, after its end, and after each of three edges
