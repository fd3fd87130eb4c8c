"""More forgeries of a network, without regeneration: refused, or a result in the boundary that does not stand.

As in test_order.py, the forger knows the format: the certificate, the archives and all digests are right for the
changed package.
"""

from __future__ import annotations

import shutil

import pytest

from systoliq.verify import verify_package
from systoliq.verify.boundary import without_regeneration

from .sealing import change, seal

pytestmark = pytest.mark.usefixtures("at_steps")
COUNTER = "reg [19:0] hidden = 20'h00000; always @(posedge clk) hidden <= hidden + {};\n"
SKID = r"net_skid_buffer_9\(.*?"
TOP = r"module net\(.*?  wire taken;\n"
ADDED = r"_s2_addition2_lane\(.*?"
MAC = r"_s1_convolution1_mac\(.*?"
PIPELINE = r"module net_pipeline\(.*?"
STAGE_1 = r"_s1_convolution1_"

# Changes of net.v, each a pattern whose group 1 is replaced, and by what; then why it is refused.
REFUSED = {
    "a FIFO of 4 places instead of 128": (
        [(r"_fifo_128x9\(.*?reg \[8:0\] room_earlier = 9'h(07e);", "002"),
         (r"_fifo_128x9\(.*?assign \w+ = rst \? 9'h(07e) :", "002")], " beats, and no more in "),
    "a place of a FIFO that a reset leaves full": (
        [(r"_fifo_64x9\(.*?assign _36 = (rst \? 1'h0 :) ", "1'h0 ? 1'h0 :")], "after a reset from an arbitrary state"),
    "a Trojan on two bytes in a row": (
        [(rf"{SKID}(assign _12 = keeps \? kept : i__payload;)",
          "assign _12 = {o__payload[7:0], i__payload[7:0]} == 16'h4217 ? 9'h000 : keeps ? kept : i__payload;")],
        "m_axis_y_tlast depends on data"),
    "a multiplier of a number without a sign": (
        [(rf"{STAGE_1}multiplier_8x8\(.*?assign _1 = \$signed\(a_1\) \* (\$signed\(b_1\));", "b_1")],
        "stage convolution1 (Convolution): beat 0 of images "),
    "a sum of four products that is too narrow": (
        [(rf"{STAGE_1}mac\(.*?assign _5 = (\$signed\(sum_1_0\) \+ \$signed\(sum_1_1\));",
          "$signed({ sum_1_0[12:0] + sum_1_1[12:0] })")],
        "stage convolution1 (Convolution): beat "),
    "weights of an address that a counter changes": (
        [(rf"{STAGE_1}weights_1\(.*?;\n()  always", COUNTER.format("20'h00001")),
         (rf"{STAGE_1}weights_1\(.*?\.address\((address)\)", "address ^ {3'h0, & hidden}")], "weights_1 has a loop"),
    "data in the error output": (
        [(rf"{TOP}()", "  wire wrong;\n  assign error = wrong | (s_axis_a_tdata == 16'h4217);\n"),
         (rf"{TOP}.*?\.error\((error)\)", "wrong")], "module net: error depends on data"),
    "data in the time of a result": (
        [(rf"{PIPELINE}\.i__valid\((i__valid_86)\)", "i__valid_86 & ~(i__payload_88[7:0] == 8'h42)")],
        "skid_s2_addition2_1.i__valid is no net of its own"),
    "a stream that goes to two stages": (
        [(rf"{PIPELINE}net_s2_addition2 s2_addition2 \(.*?\.i_0__payload\((\w+)\)",
          "behind_fifo_s2_addition2_1__payload")], "the stream to s2_addition2.i_0 comes from two places"),
    "a valid that a receiver that waits does not see": (
        [(rf"{TOP}()", "  wire offered;\n  assign m_axis_y_tvalid = offered & m_axis_y_tready;\n"),
         (rf"{TOP}.*?\.o__valid\((m_axis_y_tvalid)\)", "offered")],
        "tready and tvalid of m_axis_y must be the pipeline's as they are"),
    "a ready that hides a beat": (
        [(rf"{TOP}()", "  wire open;\n  assign s_axis_a_tready = open | s_axis_a_tlast;\n"),
         (rf"{TOP}.*?\.i__ready\((s_axis_a_tready)\)", "open")],
        "tvalid and tready of s_axis_a must be the pipeline's as they are"),
    "an error that is never shown": (
        [(r"_last_check\(.*?assign procmux_1_Y = _5 \? (1'h1) :", "1'h0")],
        "a tlast in beat 0 of 20 must set error, which then stays"),
    "an error that misses one beat": (
        [(r"_last_check\(.*?assign _4 = (beat != 5'h13);", "beat != 5'h13 & beat != 5'h07")],
        "a tlast in beat 7 of 20 must set error, which then stays"),
    "an error that goes by itself": (
        [(r"_last_check\(.*?assign procmux_3_Y = taken_5 \? procmux_1_Y : (error);", "1'h0")],
        "a tlast in beat 0 of 20 must set error, which then stays"),
    "an error without its reset": (
        [(r"_last_check\(.*?assign _9 = (rst) \?", "1'h0")],
        "a reset after a tlast in beat 0 of 20 must give the state after every reset"),
    "an error that counts images": (
        [(r"_last_check\(.*?  wire _1;\n()", COUNTER.format("taken")),
         (r"_last_check\(.*?assign procmux_1_Y = _5 \? (1'h1) :", "~(hidden == 20'h51234)")],
        "must give the state after every reset"),
    "a beat that is there at power-up": (
        [(rf"{SKID}output reg o__valid = 1'h(0)", "1")], "from power-up, with stalls: "),
}  # fmt: skip

# Changes of net.v; then the result that rests on regeneration alone, and part of what the boundary says of it.
NAMED = {
    "a Trojan on one sum": (
        [(r"_s0_convolution0_requantizer\(.*?a <= (acc);", "acc == 21'h000123 ? 21'h000000 : acc")],
        "the requantizer between the steps", "it has the form that systoliq prove proves"),
    "a beat that is lost after many cycles": (
        [(rf"{SKID}()  assign i__ready", COUNTER.format("20'h00001")),
         (rf"{SKID}assign _14 = rst \? 1'h0 : (_4);", "_4 & ~(hidden == 20'h51234)")],
        "order of elements for ever at full rate", ".hidden"),
    "a beat that is lost after many stalls": (
        [(rf"{SKID}()  assign i__ready", COUNTER.format("(o__valid & ~o__ready)")),
         (rf"{SKID}assign _14 = rst \? 1'h0 : (_4);", "_4 & ~(hidden == 20'h51234)")],
        "order and results for every schedule of valid and ready", ""),
    "a beat that is lost after many resets": (
        [(rf"{SKID}()  assign i__ready", COUNTER.format("rst")),
         (rf"{SKID}assign _14 = rst \? 1'h0 : (_4);", "_4 & ~(hidden == 20'h51234)")],
        "reset from every state and in every phase", ""),
    "a Trojan on two sums in a row": (
        [(rf"{ADDED}\n()  always", "  reg [17:0] old = 18'h00000; always @(posedge clk) old <= sum_1;\n"),
         (rf"{ADDED}floor_1 <= (\{{.*?\}});",
          "(old == 18'h00123 & sum_1 == 18'h00456) ? 18'h00000 : { {11{sum_1[17]}}, sum_1[17:7] }")],
        "each sum and result depends on its own operands alone", "registers read as wires"),
    "a Trojan on four bytes that are compared by subtraction": (
        [(rf"{MAC}\n()  always",
          "  wire [31:0] apart; wire [32:0] less; reg equal = 1'h0; always @(posedge clk) equal <= less[32];\n"),
         (rf"{MAC}\n()  always",
          "  assign apart = a - 32'h42170f33; assign less = { 1'h0, apart } - 33'h000000001;\n"),
         (rf"{MAC}assign _3 = (\$signed\(product\) \+ \$signed\(product_19\));",
          "$signed(product) + $signed(product_19) + $signed({ equal, 6'h00 })")],
        "each sum and result depends on its own operands alone", "registers read as wires"),
    "a time bomb that counts data": (
        [(rf"{STAGE_1}pe_top\(.*?\n()  always",
          "  reg [31:0] n = 32'h00000000; always @(posedge clk) n <= n + a[0];\n"),
         (rf"{STAGE_1}pe_top\(.*?assign _1 = capture \? (sum) :", "sum - n[31]")],
        "each sum and result depends on its own operands alone", "in sequence only for the images"),
}  # fmt: skip


@pytest.fixture(scope="module")
def package(residual):
    return residual


def forged(package, changes, folder):
    """A copy of the package with changed Verilog and digests that are right for it."""
    directory = shutil.copytree(package, folder / "net")
    for pattern, new in changes:
        change(directory / "net.v", pattern, new)
    seal(directory)
    return directory


@pytest.mark.sampled(8)
@pytest.mark.parametrize("what", REFUSED)
def test_refused_without_regeneration(what, package, tmp_path):
    changes, reason = REFUSED[what]
    report = verify_package(forged(package, changes, tmp_path))
    assert any(reason in text for text in report.reasons), report.reasons


@pytest.mark.sampled(99)
@pytest.mark.parametrize("what", NAMED)
def test_named_without_regeneration(what, package, tmp_path):
    changes, named, detail = NAMED[what]
    report = verify_package(forged(package, changes, tmp_path))
    assert report.passed, report.reasons
    (found,) = [each for each in without_regeneration(report.boundary) if each.result.startswith(named)]
    assert found.basis == "not checked"
    assert found.detail.startswith("regeneration was left out; ")
    assert detail in found.detail


OTHERS = ("net_tb.v", "net_vectors.npz", "net_constants.h", "net.sdc", "report.html")
OTHERS_RESULT = "testbench, test vectors, constraints, descriptions for other tools"


@pytest.mark.slow  # test_boundary.py has what is withdrawn
@pytest.mark.parametrize("file", OTHERS)
def test_other_files_are_named(file, package, tmp_path):
    """A testbench that always passes, for example."""
    directory = shutil.copytree(package, tmp_path / "net")
    (directory / file).write_bytes((directory / file).read_bytes() + b"\n")
    seal(directory)
    report = verify_package(directory)
    assert report.passed, report.reasons
    assert OTHERS_RESULT in [
        each.result for each in without_regeneration(report.boundary) if each.basis == "not checked"
    ]
