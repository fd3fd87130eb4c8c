"""The frame of the self-checking testbenches: clock, phases, resets, and an end where nothing moves any more.

Plain Verilog-2005 that needs no Python, and no file but those that the design reads; `layer_testbench`,
`array_testbench` and `network_testbench` fill a `Frame` in, `engine_testbench` the `shell` around it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .handover import Handover
from .resets import Kind, Trial
from .stops import Stops
from .streams import Sender
from .text import calls, fill

__all__ = ["Frame", "shell"]

_SHELL = """\
// Self-checking testbench of the module <<name>>, written by systoliq. <<where>>:
//     $ iverilog -g2005 -o t <<dir>>*.v && vvp t
//     $ verilator --binary --timing --top-module <<name>>_tb <<dir>>*.v <<dir>>*.vlt && obj_dir/V<<name>>_tb
// It prints PASS, or FAIL with the first mismatch. With +stop a FAIL ends in $stop, an error for vvp -N and Verilator.
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
  reg passed = 1'b0;

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
      if (!done && !passed && $test$plusargs("stop")) $stop;
      if (!done) $finish;
      done = 1'b1;
    end
  endtask

<<body>>
endmodule
"""

_PHASES = (
    "Phase 0: everything at full rate; the cycle model must hold.",
    "Phase 1: resets of one to three cycles<<kinds>>; what comes after each must be as in phase 0.",
    "Phase 2: random stalls everywhere.",
    "Phase 3: only the senders stall.",
    "Phase 4: only the receiver stalls.",
    "Phase 5: the receiver stalls, and stops now and then until A's tready falls, which must be in time.",
    "Phase 6: A is late, as much as lets a group come when the one before it leaves.",
)
_KINDS = (
    (Kind.FULL_RATE, "at full rate"),
    (Kind.STALLS, "under stalls"),
    (Kind.STOPPED, "with a receiver that stops"),
    (Kind.STRAY, "after a tlast in the wrong place"),
)

_TESTBENCH = """\
  localparam LAST_PHASE = <<last_phase>>;
  localparam ROUNDS = <<rounds>>;  // of phases 2 and up
  localparam RESULTS = <<results>>;
  localparam FEW = <<few>>;  // of them in all phases but the first
  localparam MODEL_CYCLES = <<cycles>>;
  localparam IDLE = <<idle>>;  // cycles in which nothing moves: an end
  localparam QUIET = <<quiet>>;  // cycles after the last result in which nothing more may come

  // Trials, each ended by a reset: the cycle of it, its length, what goes on until then, the place of a wrong tlast.
  localparam TRIALS = <<trials>>;
  localparam SEEN = <<seen>>;
  reg [31:0] trial_until [0:TRIALS-1];
  reg [2:0] trial_reset [0:TRIALS-1];
  reg [1:0] trial_kind [0:TRIALS-1];
  reg [31:0] trial_stray [0:TRIALS-1];
  task r(input [31:0] until_cycle, input [2:0] cycles, input [1:0] what, input [31:0] stray);
    begin
      trial_until[i] = until_cycle; trial_reset[i] = cycles; trial_kind[i] = what; trial_stray[i] = stray;
      i = i + 1;
    end
  endtask
  integer trial = 0;
  integer turn = 0;  // of those rounds
  wire resets = phase == 3'd1;
  wire [1:0] kind = trial_kind[trial];

<<results_wire>>
  wire senders_stall = (resets && kind == 2'd<<stalls>>) || phase == 3'd2 || phase == 3'd3;
  wire receiver_stalls = (resets && kind == 2'd<<stalls>>) || phase == 3'd2 || phase == 3'd4 || phase == 3'd5;
  integer since = 0;  // cycles since the reset, or since the phase began
<<stop>>
  wire [31:0] stray = resets && kind == 2'd<<stray>> ? trial_stray[trial] : 32'hffffffff;
  integer first_cycle = 0;
  integer quiet = 0;
  integer idle = 0;
<<declarations>>

  // Who is ready, and what is valid, in each cycle of phase 0: the same comes after every reset.
  wire [<<handshake_bits>>-1:0] handshake = {<<handshake>>};
  reg [<<handshake_bits>>-1:0] seen [0:SEEN-1];
  wire moves = <<moves>>;

  always @(posedge clk) begin
    random <= xorshift(random);
    cycle <= cycle + 1;
    idle <= moves || receiver_stops || in_reset != 3'd0 ? 0 : idle + 1;
    if (idle > IDLE && !done) begin
      $display("FAIL: nothing moves for %0d cycles: phase %0d, %0d of %0d results", idle, phase, taken, results);
      finish;
    end
    if (in_reset != 3'd0) begin
      in_reset <= in_reset - 3'd1;
      rst <= in_reset != 3'd1;
      taken <= 0;
      quiet <= 0;
      since <= 0;
<<reset>>
    end else if (resets && since == trial_until[trial]) begin
      if (trial == TRIALS - 1) phase <= phase + 3'd1;
      trial <= trial == TRIALS - 1 ? 0 : trial + 1;
      rst <= 1'b1;
      in_reset <= trial_reset[trial];
    end else begin
      since <= since + 1;
      if (phase == 3'd0 && since < SEEN) seen[since] <= handshake;
      if (resets && (kind == 2'd<<full_rate>> || kind == 2'd<<stray>>) && handshake !== seen[since] && !done) begin
        $display("FAIL: %0d cycles after a reset: expected tready and tvalid %b, got %b (phase %0d, trial %0d)", since,
                 seen[since], handshake, phase, trial);
        finish;
      end
<<step>>
      if (taken == results && !resets) begin
        quiet <= quiet + 1;
        if (quiet == QUIET) begin
          quiet <= 0;
          taken <= 0;
          since <= 0;
<<again>>
          phase <= phase == LAST_PHASE && turn != ROUNDS - 1 ? 3'd2 : phase + 3'd1;
          if (phase == LAST_PHASE) begin
            turn <= turn + 1;<<new_round>>
          end
          if (phase == 3'd0) begin  // the first trial begins with a reset as well
            rst <= 1'b1;
            in_reset <= 3'd1;
          end
          if (phase == LAST_PHASE && turn == ROUNDS - 1 && !done) begin
            $display("PASS: %0d outputs in %0d cycles", checked, cycle);<<after_pass>>
            passed = 1'b1;
            finish;
          end
        end
      end
    end
  end

  initial begin
    i = 0;
<<trial_calls>>
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

    It reports missing files among `memories`, which the design reads.
    """
    where, folder = "From any folder", "DIR/"
    opened = [
        f'    file = $fopen("{each}", "r"); if (file == 0) missing = 1\'b1; else $fclose(file);' for each in memories
    ]
    if opened:
        where, folder = "In its folder", ""
        body += "\n" + fill(_MEMORIES, opened="\n".join(opened))
    return fill(_SHELL, name=name, story=_comment(story), phases=phases, body=body, where=where, dir=folder)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A testbench: `senders` send, `step` takes and checks results with the counter `taken`.

    Phase 0 has all `results`, the others the first `few` of them; those with stalls come `rounds` times. `stops` are
    the receiver's (None if results cannot be held back), and `handover` describes groups that meet (None if none do);
    each has its own phase. After `idle` cycles without a transfer, the run ends with an error. `outputs` are the ready
    and valid outputs, with their widths, and `moves` says that a result is taken. `memories` are the files that the
    design reads. `again` comes before the next phase, and `after_pass` is printed after PASS.
    """

    name: str
    story: str
    senders: Sequence[Sender]
    results: int
    few: int
    cycles: int
    quiet: int
    idle: int
    rounds: int
    trials: Sequence[Trial]
    stops: Stops | None
    handover: Handover | None
    outputs: Sequence[tuple[str, int]]
    moves: str
    declarations: str
    step: str
    reset: str
    contents: str
    memories: Iterable[str]
    again: str
    after_pass: str

    @property
    def text(self) -> str:
        """The Verilog."""
        senders, stops, handover, trials = self.senders, self.stops, self.handover, self.trials
        handshake = [*((f"s_axis_{sender.letter}_tready", 1) for sender in senders), *self.outputs]
        went = [f"(s_axis_{sender.letter}_tvalid && s_axis_{sender.letter}_tready)" for sender in senders]
        parts: list[Sender | Handover] = [*senders, *([] if handover is None else [handover])]
        fills = None if stops is None else stops.fills
        last_phase = handover.phase if handover is not None else 5 if stops is not None and (stops.held or fills) else 4
        seen = [trial.until for trial in trials if trial.kind in (Kind.FULL_RATE, Kind.STRAY)]
        body = fill(
            _TESTBENCH,
            last_phase=last_phase,
            rounds=self.rounds,
            new_round="" if stops is None else stops.new_round,
            results=self.results,
            few=self.few,
            cycles=self.cycles,
            idle=self.idle,
            quiet=self.quiet,
            after_pass=self.after_pass + ("" if fills is None else fills.after_pass),
            results_wire="  wire [31:0] results = phase == 3'd0 ? RESULTS : FEW;" if fills is None else fills.results,
            stop="  wire receiver_stops = 1'b0;" if stops is None else stops.declarations(self.moves),
            trials=len(trials),
            seen=max(seen) + 1,
            full_rate=Kind.FULL_RATE.value,
            stalls=Kind.STALLS.value,
            stray=Kind.STRAY.value,
            declarations="\n".join([*(part.declarations for part in parts), self.declarations]),
            handshake=", ".join(name for name, _ in handshake),
            handshake_bits=sum(width for _, width in handshake),
            moves=" || ".join([*went, self.moves]),
            reset="\n".join(
                [
                    *(sender.in_reset for sender in senders),
                    *([] if stops is None else stops.reset),
                    self.reset,
                ]
            ),
            step="\n".join([*(part.step for part in parts), *([] if stops is None else [stops.step]), self.step]),
            again="\n".join(
                [
                    *(sender.again for sender in senders),
                    *([] if stops is None else stops.again),
                    *filter(None, [self.again]),
                ]
            ),
            trial_calls=calls(trial.call for trial in trials),
            contents="\n".join(
                [
                    *(sender.contents for sender in senders),
                    *([] if stops is None else stops.contents),
                    self.contents,
                ]
            ),
        )
        return shell(
            name=self.name,
            story=self.story,
            phases=_phases(trials, last_phase, self.rounds, late=stops is not None),
            body=body,
            memories=self.memories,
        )


def _phases(trials: Sequence[Trial], last: int, rounds: int, *, late: bool) -> str:
    """The phases in words."""
    kinds = "".join(f", {text}" for kind, text in _KINDS if any(trial.kind is kind for trial in trials))
    phases = [line.replace("<<kinds>>", kinds) for line in _PHASES[: last + 1]]
    phases += [
        "From phase 2 on the receiver stops before the last results, in each phase with another number left."
    ] * late
    phases += [f"Phases 2 and up come {rounds} times."] if rounds > 1 else []
    return "\n".join(map(_comment, phases))


def _comment(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 116, initial_indent="// ", subsequent_indent="// "))
