"""The plain Verilog testbench of a bare array: tiles in, sums out, compared with the integer product."""

from __future__ import annotations

from systoliq.hw.axi import axi_bits

from ...design.array.design import ArrayDesign
from ..frame import Frame
from ..resets import trials
from ..streams import PAUSES, Sender
from ..text import calls, fill, literal
from .stimulus import array_stimulus

__all__ = ["array_testbench"]

_BUDGET = 15_000  # cycles of resets, about

_DECLARATIONS = """\
<<tasks>>

  // What must come: row <index modulo rows> of tile <index / rows>, all columns side by side.
  localparam ROWS = <<rows>>;
  localparam COLS = <<cols>>;
  localparam BITS = <<bits>>;
  localparam LINES = RESULTS / COLS;
  reg [COLS*BITS-1:0] line [0:LINES-1];
  task s(input [COLS*BITS-1:0] sums_of_line); begin line[i] = sums_of_line; i = i + 1; end endtask

  wire [COLS*BITS-1:0] sums;
  wire [COLS-1:0] sums_valid;
  integer index [0:COLS-1];  // lines that a column has brought
  integer column;
  integer came;

  <<name>> dut (
    .clk(clk),
    .rst(rst),
    .s_axis_a_tdata(s_axis_a_tdata),
    .s_axis_a_tvalid(s_axis_a_tvalid),
    .s_axis_a_tready(s_axis_a_tready),
    .s_axis_a_tlast(s_axis_a_tlast),
    .s_axis_b_tdata(s_axis_b_tdata),
    .s_axis_b_tvalid(s_axis_b_tvalid),
    .s_axis_b_tready(s_axis_b_tready),
    .sums(sums),
    .sums_valid(sums_valid)
  );

  task check(input integer c, input integer at);
    begin
      if (at >= LINES && !done) begin
        $display("FAIL: column %0d: more than %0d sums came (phase %0d)", c, LINES, phase);
        finish;
      end else if (sums[c*BITS+:BITS] !== line[at][c*BITS+:BITS] && !done) begin
        $display("FAIL: tile %0d row %0d column %0d: expected %0d, got %0d (phase %0d)", at / ROWS, at % ROWS, c,
                 $signed(line[at][c*BITS+:BITS]), $signed(sums[c*BITS+:BITS]), phase);
        finish;
      end
    end
  endtask"""

_STEP = """\
      if (phase == 3'd0 && s_axis_a_tvalid && s_axis_a_tready && a_index == 0) first_cycle <= cycle;
      if ((^{sums_valid, s_axis_a_tready, s_axis_b_tready}) === 1'bx && !done) begin
        $display("FAIL: sums_valid %b, tready %b %b: must be 0 or 1 (phase %0d)", sums_valid, s_axis_a_tready,
                 s_axis_b_tready, phase);
        finish;
      end
      came = 0;
      for (column = 0; column < COLS; column = column + 1)
        if (sums_valid[column]) begin
          check(column, index[column]);
          index[column] <= index[column] + 1;
          came = came + 1;
        end
      checked <= checked + came;
      taken <= taken + came;
      if (phase == 3'd0 && came != 0 && taken + came == RESULTS && cycle - first_cycle + 1 != MODEL_CYCLES && !done)
      begin
        $display("FAIL: expected %0d cycles, got %0d", MODEL_CYCLES, cycle - first_cycle + 1);
        finish;
      end
      if (taken == RESULTS && quiet == QUIET)
        for (column = 0; column < COLS; column = column + 1) index[column] <= 0;"""

_RESET = "      for (column = 0; column < COLS; column = column + 1) index[column] <= 0;"


def array_testbench(design: ArrayDesign) -> str:
    """Return Verilog of module `<name>_tb`, which holds its stimulus and needs nothing else."""
    stimulus = array_stimulus(design)
    config = design.config
    senders = [
        Sender(
            letter,
            beats,
            axi_bits(vectors * config.depth * operand.bits),
            has_last=letter == "a",
            random_bit=random_bit,
        )
        for letter, beats, vectors, operand, random_bit in (
            ("a", stimulus.a_beats, config.rows, config.a, 3),
            ("b", stimulus.b_beats, config.cols, config.b, 19),
        )
    ]
    first = design.array.cycles([-(-stimulus.inner[0] // config.depth)])
    bits, width = config.word_bits, config.word_bits * config.cols
    contents = calls(f"s({literal(line, width)});" for line in stimulus.lines)
    return Frame(
        name=design.name,
        memories=(),
        story=f"{len(stimulus.inner)} tiles with K = {', '.join(map(str, stimulus.inner))} are sent back to back, and "
        f"the sums of {config.rows} x {config.cols} elements are compared with the integer product. Sums cannot be "
        "held back: nothing stalls on that side.",
        senders=senders,
        results=stimulus.sums.size,
        few=stimulus.sums.size,
        cycles=stimulus.cycles,
        quiet=2 * (design.array.latency + config.rows + config.cols),
        idle=2 * design.array.latency + stimulus.cycles + PAUSES,
        trials=trials(first=first, period=stimulus.cycles - first, most=stimulus.cycles, budget=_BUDGET),
        stops=None,
        handover=None,
        rounds=1,
        outputs=[("sums_valid", config.cols)],
        moves="|sums_valid",
        declarations=fill(
            _DECLARATIONS,
            tasks="\n".join(sender.task for sender in senders),
            rows=config.rows,
            cols=config.cols,
            bits=bits,
            name=design.name,
        ),
        step=_STEP,
        reset=_RESET,
        again="",
        after_pass="",
        contents=f"    i = 0;\n{contents}",
    ).text
