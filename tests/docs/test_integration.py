"""Examples of docs/integration.md: the wrapper with an active-low reset passes the package's own testbench."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from systoliq.api import LayerDesign, LayerOptions, write_package
from systoliq.design import DmaEngineDesign
from systoliq.hw.engine import EngineConfig

from ..support.layers import little_layer
from ..support.testbenches import one_round

ROOT = Path(__file__).resolve().parents[2]
WRAPPER = ROOT / "examples/active_low_reset.v"

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("short_testbenches")]


def run(folder, *files):
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus is missing")
    subprocess.run(["iverilog", "-g2005", "-Wall", "-Wno-timescale", "-o", "t", *files], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow  # tests/package/test_wrapper.py
def test_the_wrapper_passes_the_testbench_of_the_package(tmp_path):
    """With all its resets: the testbench drives `rst`, and the wrapper takes its inverse. A layer of the ports of
    resnet8-fc, of fewer products.
    """
    folder = one_round(write_package(LayerDesign(little_layer(), LayerOptions(), name="resnet8_fc"), tmp_path / "fc"))
    bench = (folder / "resnet8_fc_tb.v").read_text()
    text = bench.replace("  resnet8_fc dut (", "  fc_top dut (").replace(".clk(clk)", ".aclk(clk)")
    text = text.replace(".rst(rst)", ".aresetn(!rst)")
    text = re.sub(r"\.([sm])_axis_[ay]_(t\w+)\(", r".\1_axis_\2(", text)
    (tmp_path / "tb.v").write_text(text)
    assert text != bench
    assert re.search("^PASS", run(tmp_path, "tb.v", WRAPPER, folder / "resnet8_fc.v"), re.MULTILINE)


def test_the_synchronizer_rises_at_once_and_falls_after_two_edges(tmp_path):
    module = WRAPPER.read_text().partition("// An active-low reset that comes")[2].partition("\n")[2]
    (tmp_path / "tb.v").write_text(
        """module tb;
  reg clk = 0, aresetn = 1;
  wire rst;
  reset_synchronizer dut (.clk(clk), .aresetn(aresetn), .rst(rst));
  initial begin
    #3 aresetn = 0; #1 $write("%b", rst);
    #3 aresetn = 1; #1 $write("%b", rst);
    repeat (3) begin #1 clk = 1; #1 $write("%b", rst); clk = 0; end
  end
endmodule
"""
        + module
    )
    assert run(tmp_path, "tb.v") == "11100"  # in reset, after its end, and after each of three edges


def test_the_attributes_of_the_masters_are_those_of_docs_zynq():
    """Signals that the table gives a value, and those that it says are missing."""
    config = EngineConfig(rows=2, cols=2, depth=1, lanes=1, a_words=16, b_words=32, max_columns=16, max_rows=8)
    design = DmaEngineDesign(config, bus=64)
    suffixes = {port["name"].split("_")[3][2:] for port in design.ports if re.match("m_axi_[a-z]+_a[rw]", port["name"])}
    page = (ROOT / "docs/zynq.md").read_text()
    rows = dict(re.findall(r"^\| (Ax[\w, ]+) \| (.+?) \|", page, re.MULTILINE))
    assert suffixes - {"addr", "valid", "ready"} == {name[2:].lower() for name in rows if "," not in name}
    (missing,) = (name for name in rows if "," in name)
    assert rows[missing] == "no ports"
    assert not suffixes & {name[2:].lower() for name in missing.split(", ")}
    for name in ("cache", "prot", "burst", "id"):
        stated = int(rows[{"id": "AxID"}.get(name, f"Ax{name.upper()}")], 0)
        values = {int(value, 16) for value in re.findall(rf"assign m_a[rw]{name} = \d+'h(\w);", design.verilog)}
        assert values == {stated}, name
    (width,) = {port["width"] for port in design.ports if port["name"] == "s_axi_ctrl_awaddr"}
    assert f"{1 << width - 20} MiB" in page
