"""The plain Verilog testbench of a dense layer: rows in, rows out, compared with golden's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from systoliq.hw.axi import axi_bits

from ..testbench.frame import testbench
from ..testbench.streams import Receiver, Sender
from ..testbench.text import calls, fill, literal
from .stimulus import LayerStimulus

if TYPE_CHECKING:
    from .design import LayerDesign

__all__ = ["layer_testbench"]

_DECLARATIONS = """\
<<task>>

  // What must come: a beat of outputs at (row, column)...; count = 0 where the row only fills up a group.
  reg [<<y_top>>:0] y_data [0:RESULTS-1];
  reg y_last [0:RESULTS-1];
  integer y_row [0:RESULTS-1];
  integer y_column [0:RESULTS-1];
  integer y_count [0:RESULTS-1];
  task y(input integer row, input integer column, input integer count, input [<<y_top>>:0] data, input last);
    begin
      y_row[i] = row; y_column[i] = column; y_count[i] = count; y_data[i] = data; y_last[i] = last;
      i = i + 1;
    end
  endtask

<<receiver>>
  integer lane;
  wire error;

  <<name>> dut (
    .clk(clk),
    .rst(rst),
    .s_axis_a_tdata(s_axis_a_tdata),<<user>>
    .s_axis_a_tvalid(s_axis_a_tvalid),
    .s_axis_a_tready(s_axis_a_tready),
    .s_axis_a_tlast(s_axis_a_tlast),
    .m_axis_y_tdata(m_axis_y_tdata),
    .m_axis_y_tvalid(m_axis_y_tvalid),
    .m_axis_y_tready(m_axis_y_tready),
    .m_axis_y_tlast(m_axis_y_tlast),
    .error(error)
  );

  task check;  // the beat that is taken in this cycle
    begin
      for (lane = 0; lane < y_count[taken]; lane = lane + 1)
        if (m_axis_y_tdata[lane*<<bits>>+:<<bits>>] !== y_data[taken][lane*<<bits>>+:<<bits>>] && !done) begin
          $display("FAIL: row %0d column %0d: expected %0d, got %0d (phase %0d)", y_row[taken], y_column[taken] + lane,
                   <<sign>>(y_data[taken][lane*<<bits>>+:<<bits>>]), <<sign>>(m_axis_y_tdata[lane*<<bits>>+:<<bits>>]),
                   phase);
          finish;
        end
      if (m_axis_y_tlast !== y_last[taken] && !done) begin
        $display("FAIL: row %0d column %0d: expected tlast %b, got %b (phase %0d)", y_row[taken], y_column[taken],
                 y_last[taken], m_axis_y_tlast, phase);
        finish;
      end
    end
  endtask"""

_STEP = """\
      if (phase == 3'd0 && s_axis_a_tvalid && s_axis_a_tready && a_index == 0) first_cycle <= cycle;
<<receiver>>
      if ((^{m_axis_y_tvalid, s_axis_a_tready}) === 1'bx && !done) begin
        $display("FAIL: tvalid %b, tready %b: must be 0 or 1 (phase %0d)", m_axis_y_tvalid, s_axis_a_tready, phase);
        finish;
      end
      if (error !== 1'b0 && !done) begin
        $display("FAIL: error is %b, and every tlast was in its place (phase %0d)", error, phase);
        finish;
      end
      if (m_axis_y_tvalid && m_axis_y_tready) begin
        if (taken < RESULTS) begin
          check;
          checked <= checked + y_count[taken];
          taken <= taken + 1;
        end else if (!done) begin
          $display("FAIL: more than %0d beats came (phase %0d)", RESULTS, phase);
          finish;
        end
        if (phase == 3'd0 && taken == RESULTS - 1 && cycle - first_cycle + 1 != MODEL_CYCLES && !done) begin
          $display("FAIL: expected %0d cycles, got %0d", MODEL_CYCLES, cycle - first_cycle + 1);
          finish;
        end
      end"""


def layer_testbench(design: LayerDesign, stimulus: LayerStimulus) -> str:
    """Verilog of module `<name>_tb`, which holds `stimulus` and needs nothing else."""
    dense = design.dense
    y_format, lanes, config = design.layer.y_format, dense.schedule.lanes, dense.config
    a_width = axi_bits(config.rows * config.depth * design.layer.a_format.bits)
    user_width = axi_bits(dense.zero_point_bits)
    y_width = axi_bits(lanes * y_format.bits)
    sender = Sender("a", stimulus.a_beats, a_width, has_last=True, random_bit=3, user_width=user_width)
    receiver = Receiver({"tdata": y_width, "tlast": 1})
    expected = calls(
        f"y({beat.row}, {beat.column}, {beat.count}, {literal(beat.word, y_width)}, {int(beat.last)});"
        for beat in stimulus.y_beats
    )
    *first, last = map(str, stimulus.batches)
    return testbench(
        name=design.name,
        memories=design.verilog.files,
        story=f"Batches of {', '.join(first)} and {last} rows, K = {design.layer.k}, are sent back to back, and N = "
        f"{design.layer.n} outputs a row are compared with the golden model's.",
        senders=[sender],
        results=len(stimulus.y_beats),
        cycles=stimulus.cycles,
        longest=stimulus.cycles,
        quiet=2 * dense.latency + 2 * dense.schedule.tile_cycles,
        declarations=fill(
            _DECLARATIONS,
            task=sender.task,
            name=design.name,
            user="\n    .s_axis_a_tuser(s_axis_a_tuser)," if user_width else "",
            y_top=y_width - 1,
            receiver=receiver.declarations,
            bits=y_format.bits,
            sign="$signed" if y_format.signed else "$unsigned",
        ),
        step=fill(_STEP, receiver=receiver.step),
        reset=receiver.reset,
        contents=f"    i = 0;\n{expected}",
    )
