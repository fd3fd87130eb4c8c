"""A layer inside a larger design, in a cocotb bench, with systoliq's drivers, monitors and scoreboard.

    python examples/larger_design.py

The design is a FIFO and the layer behind it; the bench knows its top's ports, and looks at the layer inside. Built and
started by cocotb's own runner, as any bench is; of systoliq the bench needs the folder of the package alone. Inside the
simulator cocotb imports this file again. Needs Icarus Verilog.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import Timer

from systoliq.sim import Block, Scoreboard, StreamMonitor, StreamSink, StreamSource

PACKAGE = "LARGER_DESIGN_PACKAGE"
TOP = """
module larger(
  input aclk, input aresetn,
  input [15:0] in_tdata, input in_tvalid, output in_tready, input in_tlast,
  output [7:0] out_tdata, output out_tvalid, input out_tready, output out_tlast
);
  reg [16:0] held [0:3];
  reg [2:0] head, tail;
  wire ready, valid;
  assign valid = head != tail;
  assign in_tready = tail - head != 3'd4;
  always @(posedge aclk) begin
    if (in_tvalid && in_tready) begin held[tail[1:0]] <= {in_tlast, in_tdata}; tail <= tail + 3'd1; end
    if (valid && ready) head <= head + 3'd1;
    if (!aresetn) begin head <= 0; tail <= 0; end
  end
  fc u_fc(
    .clk(aclk), .rst(!aresetn), .error(),
    .s_axis_a_tdata(held[head[1:0]][15:0]), .s_axis_a_tlast(held[head[1:0]][16]), .s_axis_a_tvalid(valid),
    .s_axis_a_tready(ready),
    .m_axis_y_tdata(out_tdata), .m_axis_y_tvalid(out_tvalid), .m_axis_y_tready(out_tready), .m_axis_y_tlast(out_tlast)
  );
endmodule
"""


@cocotb.test
async def rows_of_y_are_golden(dut: Any) -> None:
    """Three batches, with pauses on both sides of the design; each row of Y is compared with golden's."""
    block = Block.open(os.environ[PACKAGE])
    edge = {"clock": dut.aclk, "reset": dut.aresetn, "active_low": True, "pauses": 0.3}
    source = StreamSource(dut, "in", **edge, seed=1)
    sink = StreamSink(dut, "out", **edge, seed=2)
    inside = StreamMonitor(dut.u_fc, "s_axis_a")  # its clk and rst, and nothing is driven there
    scoreboard = Scoreboard(block, y=sink, a=inside)  # without a: scoreboard.expect(rows)
    dut.aresetn.value = 0
    cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())
    await Timer(45, "ns")
    dut.aresetn.value = 1
    rng = np.random.default_rng(0)
    for rows in (8, 2, 30):
        source.send(block.pack(rng.integers(-128, 128, (rows, block.layer.k)).astype(np.int8)))
    await source.sent()
    await scoreboard.finish(10, "us")  # an AssertionError says which rows and columns differ, and what rule was broken
    cocotb.log.info("%d outputs, all right", scoreboard.compared)


def main() -> None:
    """Write a layer's package and the design around it, and run the bench above."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, write_package

    layer = MatMulLayer(
        b=np.random.default_rng(1).integers(-127, 128, (16, 10)).astype(np.int8),
        b_scale=np.float32(0.02),
        b_zero_point=np.int8(0),
        a_scale=np.float32(0.1),
        a_zero_point=np.int8(3),
        y_scale=np.float32(0.5),
        y_zero_point=np.int8(-1),
    )
    here = Path(__file__).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_package(LayerDesign(layer, LayerOptions(rows=2, cols=5), name="fc"), folder / "fc")
        (folder / "larger.v").write_text(TOP)
        runner = get_runner("icarus")
        runner.build(
            sources=[folder / "larger.v", folder / "fc/fc.v"],
            hdl_toplevel="larger",
            build_dir=folder / "built",
            timescale=("1ns", "1ps"),
        )
        results = runner.test(
            here.stem,
            "larger",
            build_dir=folder / "built",
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            extra_env={PACKAGE: str(folder / "fc")},
        )
        tests, failed = get_results(results)
    print(f"passed: {tests - failed} of {tests} tests of the larger design")


if __name__ == "__main__":
    main()
