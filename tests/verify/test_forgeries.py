"""Forged packages: Verilog that another tool takes for something else than what verify reads is refused, with why."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from systoliq.api import Design, LayerOptions, open_source, write_package
from systoliq.verify import integer_layer, verify_package

from .forging import Forgery, forged
from .sealing import seal

pytestmark = pytest.mark.usefixtures("short_testbenches")
NAME = "fc"

UNREAD = {
    "the preprocessor inside a port list": Forgery(
        old=r"(module fc_multiplier_8x8\(\n)",
        new=r"\1`ifdef SYNTHESIS\n  input wire spare,\n`endif\n",
        reason="a directive of the preprocessor",
    ),
    "an assignment after an unconditional one": Forgery(
        old=r"always @\(posedge clk\)\n    product <= _1;",
        new="always @(posedge clk) begin\n    product <= _1;\n    product <= 16'h0000;\n  end",
        reason="product is driven twice",
    ),
    "a clock that is not clk": Forgery(
        old=r"(module fc_pe_top.*?)posedge clk", new=r"\1posedge clear", reason="the clock must be the input clk"
    ),
    "the falling edge": Forgery(old="posedge clk", new="negedge clk", reason="'posedge' was expected"),
    "a gated clock": Forgery(
        old=r"(fc_mac mac \(.*?)\.clk\(clk\)", new=r"\1.clk(clear)", reason="mac.clk must be connected to clk"
    ),
    "case labels narrower than the selector": Forgery(
        old=r"(casez \(s\)\n\s*)2'b\?1:", new=r"\g<1>1'b1:", reason="must be a pattern of 2 bits", package="cases"
    ),
    "cases that overlap, and are said to be parallel": Forgery(
        old=r"(fc_lane_\d_constants\(.*?casez \(s\)\n\s*)2'b\?1:(.*?)2'b1\?:",
        new=r"\g<1>2'b??:\g<2>2'b1?:",
        reason="match the same value",
        package="cases",
    ),
    "a driver of supply strength": Forgery(
        old=r"assign sums = ", new="assign (supply1, supply0) sums = ", reason="supply1 is used before it is declared"
    ),
    "a net of its own strength": Forgery(
        old=r"(module fc_mac\(.*?)  wire \[15:0\] product;", new=r"\1  supply0 [15:0] product;", reason="supply0 does"
    ),
    "a lane with another lane's row sums": Forgery(
        old=r"\.row_sum\(row_sum_\d+\)", new=".row_sum(19'h00000)", reason="lane 1 does not take its row sums from",
        package="lanes",
    ),
    "a second driver": Forgery(
        old=r"(module fc_mac\(.*?)endmodule", new=r"\1  assign product = 16'h0000;\nendmodule", reason="driven twice"
    ),
    "an input that is driven": Forgery(
        old=r"(module fc_mac\(.*?)endmodule", new=r"\1  assign clear = 1'h0;\nendmodule", reason="input clear is driven"
    ),
    "a module with the name of a vendor's cell": Forgery(
        old=r"\Z",
        new="\nmodule CCU2C(\n  input wire a,\n  output wire b\n);\n  assign b = a;\nendmodule\n",
        reason="modules must be called fc or fc_...",
    ),
    "a module that nothing uses": Forgery(
        old=r"\Z",
        new="\nmodule fc_second(\n  input wire a,\n  output wire b\n);\n  assign b = a;\nendmodule\n",
        reason="no module uses the module fc_second",
    ),
    "a black box": Forgery(
        old=r"module fc_mac\(", new="(* blackbox *)\nmodule fc_mac(", reason="attributes must be of"
    ),
    "a comment that synthesis obeys": Forgery(
        old=r"(module fc_mac\(.*?)(  assign)", new=r"\1  // synthesis translate_off\n\2", reason="the comment"
    ),
    "a comment over several lines": Forgery(
        old=r"(module fc_mac\(.*?)(  assign)", new=r"\1  /* synopsys translate_off */\n\2", reason="a comment in /* */"
    ),
    "a line that ends elsewhere for others": Forgery(
        old=r"(// Y: results, AXI4-Stream)", new="\\1\r  , input wire spare", reason="a carriage return"
    ),
    "an escaped name": Forgery(old=r"wire taken;", new=r"wire \\taken ;", reason="an escape"),
    "a net that nobody declared": Forgery(
        old=r"(module fc_mac\(.*?)\.a\(a\)", new=r"\1.a(a_)", reason="a_ is used before it is declared"
    ),
    "a net that is declared with its driver": Forgery(
        old=r"wire taken;", new="wire taken = s_axis_a_tvalid;", reason="';' was expected"
    ),
    "a register that begins as a computed value": Forgery(
        old=r"(sum_held) = 19'h00000", new=r"\1 = clear", reason="a constant was expected"
    ),
    "a register that an initial block sets": Forgery(
        old=r"(module fc_mac\(.*?)endmodule",
        new=r"\1  initial begin\n    sum_held[0] = 1'h1;\n  end\nendmodule",
        reason="is not a word of a memory",
    ),
    "a driver from above": Forgery(
        old=r"(module fc\(.*?)endmodule",
        new=r"\1  assign dense.sums = 190'h0;\nendmodule",
        reason="dense is used before",
    ),
    "a connection of another width": Forgery(
        old=r"(fc_mac mac \(\s*)\.a\(a\)", new=r"\1.a(a[6:0])", reason="mac.a has 8 bits, and is connected to 7"
    ),
    "a port that is left open": Forgery(
        old=r"(fc_mac mac \(.*?)    \.clear\(clear\),\n", new=r"\1", reason="mac.clear is not connected"
    ),
    "connections by their order": Forgery(
        old=r"fc_mac mac \(.*?\);", new="fc_mac mac (clk, a, b, clear, sum);", reason="'.' was expected"
    ),
    "a gate": Forgery(
        old=r"(module fc_mac\(.*?)endmodule",
        new=r"\1  and gate (sum[0], a[0], b[0]);\nendmodule",
        reason="and does not",
    ),
    "a bit that is not there": Forgery(
        old=r"control_11\[2:1\]", new="control_11[3:2]", reason="control_11 has no bit or word 3"
    ),
    "a constant of more digits than its width": Forgery(
        old=r"8'h80 : 8'h7f", new="8'h080 : 8'h7f", reason="as many digits as its width"
    ),
    "a constant without a width": Forgery(old=r"8'h80 : 8'h7f", new="'h80 : 8'h7f", reason='"\'h80'),
    "a repetition without end": Forgery(
        old=r"8'h80 : 8'h7f", new="{ 4000{ { 4000{ 1'h0 } } } } : 8'h7f", reason="repetitions must be 1 to 4096"
    ),
    "parentheses without end": Forgery(
        old=r"8'h80 : 8'h7f", new="(" * 5000 + "8'h80" + ")" * 5000 + " : 8'h7f", reason="to a depth of 24"
    ),
    "a net of a billion bits": Forgery(
        old=r"wire taken;", new="wire [999999999:0] taken;", reason="at most 1048576 bits"
    ),
    "a module within itself": Forgery(
        old=r"fc_multiplier_8x8 multiplier_0 \(", new="fc_mac multiplier_0 (", reason="module fc_mac is within itself"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Emitted packages by name: a layer, one with multiplexers written as cases, one with row sums for two lanes."""
    folder = tmp_path_factory.mktemp("packages")
    rng = np.random.default_rng(3)
    np.savez(
        folder / "cases.npz", b=rng.integers(-128, 128, (9, 5)).astype(np.int8), a_scale=np.float32(0.02),
        a_zero_point=np.uint8(100), b_scale=rng.uniform(0.001, 0.02, 5).astype(np.float32),
        b_zero_point=np.array([0, 3, -128, 127, 0], np.int8), y_scale=np.float32(0.5), y_zero_point=np.int8(-7),
    )  # fmt: skip
    made: dict[str, Design] = {
        "layer": open_source("resnet8-fc", name=NAME),
        "cases": open_source(str(folder / "cases.npz"), LayerOptions(rows=2, cols=3, depth=2), name=NAME),
        "lanes": open_source(str(folder / "cases.npz"), LayerOptions(cols=4, depth=5), name=NAME),
    }
    for name, design in made.items():
        write_package(design, folder / name)
    return folder


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", UNREAD)
def test_what_another_tool_may_take_otherwise_is_refused(what, packages, at_steps, tmp_path):
    forgery = UNREAD[what]
    report = verify_package(forged(packages / forgery.package, NAME, forgery, tmp_path))
    assert any(forgery.reason in reason for reason in report.reasons), report.reasons


def test_a_file_that_systoliq_does_not_write_is_refused_though_it_is_listed(packages, tmp_path):
    copy = tmp_path / "forged"
    shutil.copytree(packages / "layer", copy)
    (copy / "fc_more.v").write_text("module fc_more; initial force fc_tb.dut.dense.sums = 0; endmodule\n")
    certificate = json.loads((copy / "certificate.json").read_text())
    certificate["files"]["fc_more.v"] = ""
    (copy / "certificate.json").write_text(json.dumps(certificate))
    seal(copy)
    report = verify_package(copy)
    assert report.reasons == ("fc_more.v: is no file that systoliq emit writes for 'fc'",)


@pytest.mark.slow  # test_regenerate.py refuses it, too
def test_a_stuck_at_in_the_mask_of_near_ties_is_refused(save, arrays, tmp_path, monkeypatch):
    """It is right on both sides of every step, and not between: the map that is built rises and falls."""
    write_package(open_source(str(save("layer.npz", **arrays)), name=NAME), tmp_path / "package")
    stuck = Forgery(old=r"(module fc_round_near_tie\(.*?assign _147 = )\| _146\[35:32\];", new=r"\g<1>1'h0;", reason="")
    copy = forged(tmp_path / "package", NAME, stuck, tmp_path)
    wrong = [reason for reason in verify_package(copy).reasons if "is not the form 'near-tie' at accumulator" in reason]
    assert len(wrong) == 2
    monkeypatch.setitem(integer_layer.IntegerLayer.__init__.__kwdefaults__, "most_tried", 0)
    at_steps = verify_package(copy)
    assert (at_steps.passed, at_steps.complete) == (True, 0)
    monkeypatch.undo()
    package = verify_package(tmp_path / "package")
    assert (package.passed, package.complete) == (True, 5)
