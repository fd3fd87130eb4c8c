"""The frame of the self-checking testbenches: clock, phases, reset in the middle, the time-out.

Plain Verilog-2005 that needs no Python, and no file but those that the design reads; `layer_testbench` and
`array_testbench` fill `testbench` in, `engine_testbench` the `shell` around it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from .streams import Sender
from .text import fill

__all__ = ["shell", "testbench"]

_SHELL = """\
// Self-checking testbench of the module <<name>>, written by systoliq. <<where>>:
//     $ iverilog -g2005 -o t <<dir>>*.v && vvp t
//     $ verilator --binary --timing --top-module <<name>>_tb <<dir>>*.v <<dir>>*.vlt && obj_dir/V<<name>>_tb
// It prints PASS, or FAIL with the first mismatch.
//
<<story>>
<<phases>>
module <<name>>_tb;
  reg clk = 1'b0;
  always #5 clk = !clk;

  reg rst = 1'b1;
  reg [2:0] in_reset = 3'd4;
  reg [2:0] phase = 3'd0;
  integer cycle = 0;
  integer taken = 0;  // results in this phase
  integer checked = 0;  // outputs compared in all phases
  integer i = 0;
  reg done = 1'b0;

  // Xorshift: fixed seed, the same stalls in every run.
  reg [31:0] random = 32'd2463534242;
  function [31:0] xorshift(input [31:0] seed);
    begin
      xorshift = seed ^ (seed << 13);
      xorshift = xorshift ^ (xorshift >> 17);
      xorshift = xorshift ^ (xorshift << 5);
    end
  endfunction

  task finish;
    begin
      if (!done) $finish;
      done = 1'b1;
    end
  endtask

<<body>>
endmodule
"""

_PHASES = """\
// Phase 0: everything at full rate; the cycle model must hold.
// Phase 1: random stalls everywhere, and a reset in the middle.
// Phase 2: random stalls everywhere, from the beginning again.
// Phase 3: only the senders stall.
// Phase 4: only the receiver stalls."""

_TESTBENCH = """\
  localparam LAST_PHASE = 4;
  localparam RESULTS = <<results>>;
  localparam MODEL_CYCLES = <<cycles>>;
  localparam TIME_OUT = <<time_out>>;
  localparam QUIET = <<quiet>>;  // cycles after the last result in which nothing more may come

  wire senders_stall = phase == 3'd1 || phase == 3'd2 || phase == 3'd3;
  wire receiver_stalls = phase == 3'd1 || phase == 3'd2 || phase == 3'd4;
  integer first_cycle = 0;
  integer quiet = 0;
<<declarations>>

  always @(posedge clk) begin
    random <= xorshift(random);
    cycle <= cycle + 1;
    if (cycle > TIME_OUT && !done) begin
      $display("FAIL: no end after %0d cycles: phase %0d, %0d of %0d results", cycle, phase, taken, RESULTS);
      finish;
    end
    if (in_reset != 3'd0) begin
      in_reset <= in_reset - 3'd1;
      rst <= in_reset != 3'd1;
      taken <= 0;
      quiet <= 0;
<<reset>>
    end else if (phase == 3'd1 && taken >= RESULTS / 2) begin
      phase <= 3'd2;
      rst <= 1'b1;
      in_reset <= 3'd3;
    end else begin
<<step>>
      if (taken == RESULTS) begin
        quiet <= quiet + 1;
        if (quiet == QUIET) begin
          quiet <= 0;
          taken <= 0;
<<again>>
          phase <= phase + 3'd1;
          if (phase == LAST_PHASE && !done) begin
            $display("PASS: %0d outputs in %0d cycles", checked, cycle);
            finish;
          end
        end
      end
    end
  end

  initial begin
<<contents>>
  end"""


_MEMORIES = """\

  // The contents of memories are in files, which simulators look for where they run.
  integer file;
  reg missing = 1'b0;
  initial begin
<<opened>>
    if (missing) begin
      $display("FAIL: the simulation must run in the folder with the files *.mem");
      finish;
    end
  end"""


def shell(*, name: str, story: str, phases: str, body: str, memories: Iterable[str] = ()) -> str:
    """The text of a testbench with `body` in it, which has a clock, reset, counters, random numbers and an end.

    It says so where one of `memories`, the files that the design reads, is not there.
    """
    wrapped = "\n".join(textwrap.wrap(story, 116, initial_indent="// ", subsequent_indent="// "))
    where, folder = "From any folder", "DIR/"
    opened = [
        f'    file = $fopen("{each}", "r"); if (file == 0) missing = 1\'b1; else $fclose(file);' for each in memories
    ]
    if opened:
        where, folder = "In its folder", ""
        body += "\n" + fill(_MEMORIES, opened="\n".join(opened))
    return fill(_SHELL, name=name, story=wrapped, phases=phases, body=body, where=where, dir=folder)


def testbench(
    *, name: str, story: str, senders: Sequence[Sender], results: int, cycles: int, quiet: int, declarations: str,
    step: str, reset: str, contents: str, longest: int, memories: Iterable[str],
) -> str:  # fmt: skip
    """The text of a testbench: `senders` send, `step` takes and checks `results` results with the counter `taken`.

    Without stalls all are there after `longest` cycles. `memories` are the files that the design reads.
    """
    body = fill(
        _TESTBENCH,
        results=results,
        cycles=cycles,
        # five phases, the slow ones with pauses of up to 255 cycles at one result in 16
        time_out=5 * (12 * longest + 32 * results + 2000),
        quiet=quiet,
        declarations="\n".join([*(sender.declarations for sender in senders), declarations]),
        reset="\n".join([*(sender.reset for sender in senders), reset]),
        step="\n".join([*(sender.step for sender in senders), step]),
        again="\n".join(sender.again for sender in senders),
        contents="\n".join([*(sender.contents for sender in senders), contents]),
    )
    return shell(name=name, story=story, phases=_PHASES, body=body, memories=memories)
