"""A tlast of A in the wrong place: flagged until reset, and without influence on the results."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from systoliq.golden import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, Dense
from systoliq.sim.cosimulation import dense_verilog
from systoliq.sim.tools import find

K, BEATS = 7, 4  # elements, and beats of a group at depth 2

BENCH = """
module bench;
  reg clk = 0, rst = 1, tvalid = 0, tlast = 0;
  always #5 clk = !clk;
  wire tready, error;
  wire [31:0] y;
  wire y_valid, y_last;
  integer seed = {seed}, beats = 0, misplaced = 0, lasts = 0, rising = 0;
  dense dut(.clk(clk), .rst(rst), .s_axis_a_tdata(32'd0), .s_axis_a_tvalid(tvalid), .s_axis_a_tready(tready),
    .s_axis_a_tlast(tlast), .m_axis_y_tvalid(y_valid), .m_axis_y_tready(1'b1), .m_axis_y_tlast(y_last),
    .error(error));
  always @(posedge clk) if (!rst) begin
    if (error !== (rising >= 2)) begin $display("error is %b, misplaced %0d", error, misplaced); $finish; end
    if (misplaced != 0) rising = rising + 1;
    if (tvalid && tready) begin
      if (tlast && beats % {beats} != {beats} - 1) begin
        misplaced = misplaced + 1;
        if (rising == 0) rising = 1;
      end
      beats = beats + 1;
    end
    if (!tvalid || tready) begin
      tvalid <= $random(seed) & 1;
      tlast <= {tlast};
    end
    if (y_valid && y_last) lasts = lasts + 1;
  end
  initial begin
    repeat (3) @(posedge clk);
    rst <= 0;
    repeat (3000) @(posedge clk);
    $display("%0d beats, %0d misplaced, %0d lasts, error %b", beats, misplaced, lasts, error);
    rst <= 1;
    repeat (2) @(posedge clk);
    $display("after reset %b", error);
    $finish;
  end
endmodule
"""


@functools.cache
def verilog(n: int) -> str:
    layer = MatMulLayer(
        name="layer",
        b=np.ones((K, n), np.int8),
        a_scale=np.float32(0.5),
        a_zero_point=np.int8(0),
        b_scale=np.float32(0.5),
        b_zero_point=np.int8(0),
        y_scale=np.float32(1),
        y_zero_point=np.int8(0),
    )
    constants = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    return dense_verilog(Dense(layer, constants, ArrayConfig(rows=2, cols=2, depth=2)))


def run(folder: Path, n: int, tlast: str, seed: int = 1) -> list[str]:
    if not find("icarus").found:
        pytest.skip(find("icarus").hint)
    (folder / "t.v").write_text(verilog(n) + BENCH.format(seed=seed, beats=BEATS, tlast=tlast))
    subprocess.run(["iverilog", "-g2005", "-s", "bench", "-o", "t", "t.v"], cwd=folder, check=True)
    ran = subprocess.run(["vvp", "-n", "t"], cwd=folder, check=True, capture_output=True, text=True, timeout=60)
    return ran.stdout.splitlines()


# tlast of the beat that is offered next, which is number `beats`: the one before it has been counted.
@pytest.mark.sampled(3)
@pytest.mark.simulator
@pytest.mark.parametrize("n", [2, 5], ids=["one column tile", "three"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_well_formed_batches_raise_no_error(n, seed, tmp_path):
    said, after = run(tmp_path, n, f"beats % {BEATS} == {BEATS} - 1 && ($random(seed) & 1)", seed)
    beats, misplaced, lasts, error = (word for word in said.replace(",", "").split() if word.isdigit())
    assert (misplaced, error, after) == ("0", "0", "after reset 0")
    assert int(beats) > 100
    assert int(lasts) > 10


@pytest.mark.sampled(3)
@pytest.mark.simulator
@pytest.mark.parametrize("n", [2, 5], ids=["one column tile", "three"])
@pytest.mark.parametrize("place", range(BEATS))
def test_a_misplaced_one_is_flagged_two_cycles_later_and_until_reset(n, place, tmp_path):
    said, after = run(tmp_path, n, f"beats == 5 * {BEATS} + {place}")
    wrong = int(place != BEATS - 1)
    assert f"{wrong} misplaced, {1 - wrong} lasts, error {wrong}" in said
    assert after == "after reset 0"
