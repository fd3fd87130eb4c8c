"""What the self-checking testbenches share: clock, phases, reset in the middle, random stalls, senders, the time-out.

Plain Verilog-2005 that needs no file and no Python; `layer_testbench` and `array_testbench` fill it in.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from .stimulus import Beat

__all__ = ["Sender", "bench", "calls", "fill", "literal"]

_BENCH = """\
// Self-checking testbench of the module <<name>>, written by systoliq. From any folder:
//     $ iverilog -g2005 -o t DIR/*.v && vvp t
//     $ verilator --binary --timing --top-module <<name>>_tb DIR/*.v DIR/*.vlt && obj_dir/V<<name>>_tb
// It prints PASS, or FAIL with the first mismatch.
//
<<story>>
// Phase 0: everything at full rate; the cycle model must hold.
// Phase 1: random stalls everywhere, and a reset in the middle.
// Phase 2: random stalls everywhere, from the beginning again.
// Phase 3: only the senders stall.
// Phase 4: only the receiver stalls.
module <<name>>_tb;
  localparam LAST_PHASE = 4;
  localparam RESULTS = <<results>>;
  localparam MODEL_CYCLES = <<cycles>>;
  localparam TIME_OUT = <<time_out>>;
  localparam QUIET = <<quiet>>;  // cycles after the last result in which nothing more may come

  reg clk = 1'b0;
  always #5 clk = !clk;

  reg rst = 1'b1;
  reg [2:0] in_reset = 3'd4;
  reg [2:0] phase = 3'd0;
  wire senders_stall = phase == 3'd1 || phase == 3'd2 || phase == 3'd3;
  wire receiver_stalls = phase == 3'd1 || phase == 3'd2 || phase == 3'd4;
  integer cycle = 0;
  integer first_cycle = 0;
  integer taken = 0;  // results in this phase
  integer checked = 0;  // outputs compared in all phases
  integer quiet = 0;
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
  end
endmodule
"""

_SENDER = """\
      <<s>>_index <= <<s>>_next;
      if (!s_axis_<<s>>_tvalid || s_axis_<<s>>_tready) begin
        if (<<s>>_next < <<S>>_BEATS && !(senders_stall && random[<<bit>>+:2] != 2'd0)) begin
          s_axis_<<s>>_tvalid <= 1'b1;
          s_axis_<<s>>_tdata <= <<s>>_data[<<s>>_next];<<last>>
        end else begin
          s_axis_<<s>>_tvalid <= 1'b0;
          s_axis_<<s>>_tdata <= ~s_axis_<<s>>_tdata;  // what comes without tvalid must not matter<<not_last>>
        end
      end"""

_SENDER_DECLARATIONS = """\
  localparam <<S>>_BEATS = <<beats>>;
  reg [<<top>>:0] <<s>>_data [0:<<S>>_BEATS-1];<<last_memory>>
  reg [<<top>>:0] s_axis_<<s>>_tdata = <<width>>'d0;
  reg s_axis_<<s>>_tvalid = 1'b0;
  wire s_axis_<<s>>_tready;<<last_port>>
  integer <<s>>_index = 0;
  wire [31:0] <<s>>_next = <<s>>_index + (s_axis_<<s>>_tvalid && s_axis_<<s>>_tready ? 32'd1 : 32'd0);"""


def fill(template: str, **parts: str | int) -> str:
    """`template` with each <<name>> replaced; a name without a part, or a part without its name, is a KeyError."""
    wanted = set(re.findall(r"<<(\w+)>>", template))
    if wanted != set(parts):
        raise KeyError(f"parts must be {sorted(wanted)}, not {sorted(parts)}")
    return re.sub(r"<<(\w+)>>", lambda match: str(parts[match[1]]), template)


def literal(value: int, bits: int) -> str:
    """`value` modulo 2^bits as a sized hexadecimal literal."""
    return f"{bits}'h{value & ((1 << bits) - 1):x}"


def calls(statements: Iterable[str]) -> str:
    """Short statements, many on a line, indented as the body of `initial begin`."""
    lines: list[str] = []
    for statement in statements:
        if lines and len(lines[-1]) + 1 + len(statement) <= 116:
            lines[-1] += f" {statement}"
        else:
            lines.append(f"    {statement}")
    return "\n".join(lines)


class Sender:
    """The Verilog that sends `beats` on the stream s_axis_<letter>, `width` bits wide."""

    def __init__(self, letter: str, beats: Sequence[Beat], width: int, *, has_last: bool, random_bit: int) -> None:
        self._letter = letter
        self._beats = beats
        self._width = width
        self._has_last = has_last
        self._random_bit = random_bit

    @property
    def declarations(self) -> str:
        """Memories, ports and counters."""
        s, has_last = self._letter, self._has_last
        return fill(
            _SENDER_DECLARATIONS,
            s=s,
            S=s.upper(),
            beats=len(self._beats),
            top=self._width - 1,
            width=self._width,
            last_memory=f"\n  reg {s}_last [0:{s.upper()}_BEATS-1];" if has_last else "",
            last_port=f"\n  reg s_axis_{s}_tlast = 1'b0;" if has_last else "",
        )

    @property
    def step(self) -> str:
        """What it does in a cycle."""
        s, has_last = self._letter, self._has_last
        return fill(
            _SENDER,
            s=s,
            S=s.upper(),
            bit=self._random_bit,
            last=f"\n          s_axis_{s}_tlast <= {s}_last[{s}_next];" if has_last else "",
            not_last=f"\n          s_axis_{s}_tlast <= !s_axis_{s}_tlast;" if has_last else "",
        )

    @property
    def reset(self) -> str:
        """What it does in reset."""
        return f"      s_axis_{self._letter}_tvalid <= 1'b0;\n      {self.again.strip()}"

    @property
    def again(self) -> str:
        """How it begins anew."""
        return f"          {self._letter}_index <= 0;"

    @property
    def task(self) -> str:
        """The task that `contents` calls: one beat into the memories."""
        s = self._letter
        last = f", input last); begin {s}_last[i] = last;" if self._has_last else "); begin"
        return f"  task {s}(input [{self._width - 1}:0] data{last} {s}_data[i] = data; i = i + 1; end endtask"

    @property
    def contents(self) -> str:
        """The beats."""
        statements = (
            f"{self._letter}({literal(beat.word, self._width)}{f', {int(beat.last)}' if self._has_last else ''});"
            for beat in self._beats
        )
        return "    i = 0;\n" + calls(statements)


def bench(
    *, name: str, story: str, senders: Sequence[Sender], results: int, cycles: int, quiet: int, declarations: str,
    step: str, reset: str, contents: str,
) -> str:  # fmt: skip
    """The text of a testbench: `senders` send, `step` takes and checks `results` results with the counter `taken`."""
    return fill(
        _BENCH,
        name=name,
        story="\n".join(textwrap.wrap(story, 116, initial_indent="// ", subsequent_indent="// ")),
        results=results,
        cycles=cycles,
        # five phases, the slow ones with pauses of up to 255 cycles at one result in 16
        time_out=5 * (12 * cycles + 32 * results + 2000),
        quiet=quiet,
        declarations="\n".join([*(sender.declarations for sender in senders), declarations]),
        reset="\n".join([*(sender.reset for sender in senders), reset]),
        step="\n".join([*(sender.step for sender in senders), step]),
        again="\n".join(sender.again for sender in senders),
        contents="\n".join([*(sender.contents for sender in senders), contents]),
    )
