"""The plain Verilog testbench of a dense layer: rows in, rows out, compared with golden's answer."""

from __future__ import annotations

from systoliq.hw.axi import axi_bits

from ...design.layer.design import LayerDesign
from ..frame import Frame
from ..handover import Handover
from ..resets import stray_beats, trials
from ..stops import Stops
from ..streams import PAUSES, Receiver, Sender
from ..text import calls, fill, literal
from .stimulus import LayerStimulus, layer_stimulus

__all__ = ["layer_testbench"]

_BUDGET = 45_000  # cycles of resets, about
_STALLED_BUDGET = 8_000  # cycles of rows sent in all phases with stalls, were there none
_STALLED_PHASES = 4

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
  reg strayed = 1'b0;  // a tlast came in the wrong place
  reg error_due = 1'b0;

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
<<padding>>      if (m_axis_y_tlast !== y_last[taken] && !done) begin
        $display("FAIL: row %0d column %0d: expected tlast %b, got %b (phase %0d)", y_row[taken], y_column[taken],
                 y_last[taken], m_axis_y_tlast, phase);
        finish;
      end
    end
  endtask"""

_PADDING = """\
      if (m_axis_y_tdata[<<top>>:<<used>>] !== <<bits>>'d0 && !done) begin
        $display("FAIL: row %0d column %0d: tdata must be filled up with zeros, not %b (phase %0d)", y_row[taken],
                 y_column[taken], m_axis_y_tdata[<<top>>:<<used>>], phase);
        finish;
      end
"""

_STEP = """\
      if (phase == 3'd0 && s_axis_a_tvalid && s_axis_a_tready && a_index == 0) first_cycle <= cycle;
<<receiver>>
      if ((^{m_axis_y_tvalid, s_axis_a_tready}) === 1'bx && !done) begin
        $display("FAIL: tvalid %b, tready %b: must be 0 or 1 (phase %0d)", m_axis_y_tvalid, s_axis_a_tready, phase);
        finish;
      end
      strayed <= strayed || (s_axis_a_tvalid && s_axis_a_tready && a_index == stray);
      error_due <= strayed;
      if (error !== error_due && !done) begin
        $display("FAIL: error must be %b, not %b: every tlast was in its place, or one was not (phase %0d)", error_due,
                 error, phase);
        finish;
      end
      if (m_axis_y_tvalid && m_axis_y_tready) begin
        if (taken < results) begin
          check;
          checked <= checked + y_count[taken];
          taken <= taken + 1;
        end else if (!done) begin
          $display("FAIL: more than %0d beats came (phase %0d)", results, phase);
          finish;
        end
        if (phase == 3'd0 && taken == RESULTS - 1 && cycle - first_cycle + 1 != MODEL_CYCLES && !done) begin
          $display("FAIL: expected %0d cycles, got %0d", MODEL_CYCLES, cycle - first_cycle + 1);
          finish;
        end
      end"""


def layer_testbench(design: LayerDesign) -> str:
    """Return Verilog of module `<name>_tb`, which holds its stimulus and needs nothing else."""
    stimulus = layer_stimulus(design)
    dense = design.dense
    config = dense.config
    y_width = axi_bits(dense.schedule.lanes * design.layer.y_format.bits)
    handover = Handover(beats=dense.schedule.beats, cycles=dense.replay_cycles) if dense.replay_cycles else None
    sender = _sender(design, stimulus, waits=handover is not None)
    receiver = Receiver({"tdata": y_width, "tlast": 1})
    expected = calls(
        f"y({beat.row}, {beat.column}, {beat.count}, {literal(beat.word, y_width)}, {int(beat.last)});"
        for beat in stimulus.y_beats
    )
    *first, last = map(str, stimulus.batches)
    period = dense.schedule.tile_cycles * dense.schedule.column_tiles
    few_groups = stimulus.few_a_beats // dense.schedule.beats
    first_group = dense.cycles(config.rows) + 1
    fill_cycles = dense.cycles((dense.result_buffer.tiles // dense.schedule.column_tiles + 3) * config.rows)
    return Frame(
        name=design.name,
        memories=design.verilog.files,
        story=f"Batches of {', '.join(first)} and {last} rows, K = {design.layer.k}, are sent back to back, and N = "
        f"{design.layer.n} outputs a row are compared with the golden model's. Rows of the last batch, which phase 0 "
        "alone has, put sums on both sides of the requantizer's steps, those nearest to ties first, or are random.",
        senders=[sender],
        results=len(stimulus.y_beats),
        few=stimulus.few_y_beats,
        cycles=stimulus.cycles,
        quiet=2 * dense.latency + 2 * dense.schedule.tile_cycles,
        idle=2 * (dense.latency_from_outside + period) + PAUSES,
        rounds=max(_STALLED_BUDGET // (_STALLED_PHASES * period * few_groups), 1),
        trials=trials(
            first=first_group,
            period=period,
            most=stimulus.cycles,
            budget=_BUDGET,
            full=fill_cycles,
            strays=stray_beats(dense.schedule.beats),
        ),
        # one tile too many would be seen after the last column tile but one
        stops=Stops(
            cycles=fill_cycles,
            late=stimulus.late,
            held=stimulus.held,
            after_reset=min(dense.schedule.column_tiles - 1, 1),
        ),
        handover=handover,
        outputs=[("m_axis_y_tvalid", 1)],
        moves="(m_axis_y_tvalid && m_axis_y_tready)",
        declarations=_declarations(design, stimulus, sender, receiver),
        step=fill(_STEP, receiver=receiver.step),
        reset=f"{receiver.reset}\n      strayed <= 1'b0;\n      error_due <= 1'b0;",
        again="",
        after_pass="",
        contents=f"    i = 0;\n{expected}",
    ).text


def _sender(design: LayerDesign, stimulus: LayerStimulus, *, waits: bool) -> Sender:
    dense, config = design.dense, design.dense.config
    return Sender(
        "a",
        stimulus.a_beats,
        axi_bits(config.rows * config.depth * design.layer.a_format.bits),
        has_last=True,
        random_bit=3,
        few=stimulus.few_a_beats,
        user_width=axi_bits(dense.zero_point_bits),
        strays=0,
        pauses=True,
        waits=waits,
    )


def _declarations(design: LayerDesign, stimulus: LayerStimulus, sender: Sender, receiver: Receiver) -> str:
    """Verilog of the expected results, of the layer, and of the check of a beat."""
    y_format = design.layer.y_format
    used = design.dense.schedule.lanes * y_format.bits
    y_width = axi_bits(used)
    return fill(
        _DECLARATIONS,
        task=sender.task,
        name=design.name,
        user="\n    .s_axis_a_tuser(s_axis_a_tuser)," if design.dense.zero_point_bits else "",
        y_top=y_width - 1,
        receiver=receiver.declarations,
        bits=y_format.bits,
        padding=fill(_PADDING, top=y_width - 1, used=used, bits=y_width - used) if used < y_width else "",
        sign="$signed" if y_format.signed else "$unsigned",
    )
