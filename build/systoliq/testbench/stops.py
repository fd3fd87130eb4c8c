"""Stops of a testbench's receiver, each so long that all else comes to rest: somewhere in a phase, and near its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .fills import Fills
from .resets import Kind
from .text import calls, fill

__all__ = ["Stops"]

_LATE = """\

  // From phase 2 on the receiver stops while a few results are left; the phases share out how many.
  localparam FILL = <<fill_cycles>>;  // cycles of a stop
  localparam LATE = <<late>>;
  reg [31:0] late_left [0:LATE-1];
  task l(input [31:0] left); begin late_left[i] = left; i = i + 1; end endtask
  integer late = 0;  // stops of this phase that are over
  integer rested = 0;
  wire [31:0] late_now = {29'd0, phase} - 32'd2 + (LAST_PHASE - 1) * late;
  wire stops_late = phase > 3'd1 && late_now < LATE && taken + (<<moves>> ? 1 : 0) >= results - late_left[late_now];"""

_HELD = """\

  // It also stops in phase 5: after how many results, and how many beats of A are taken then.
  localparam STOPS = <<stops>>;
  reg [31:0] stop_after [0:STOPS-1];
  reg [31:0] stop_held [0:STOPS-1];
  task h(input [31:0] after, input [31:0] held);
    begin stop_after[i] = after; stop_held[i] = held; i = i + 1; end
  endtask
  integer stop = 0;
  integer stopped = 0;
  wire may_stop = (phase == 3'd5 && stop < STOPS) || (resets && kind == 2'd<<kind>>);
  wire [31:0] stop_now = resets ? <<after_reset>> : stop;
  wire stops_held = may_stop && taken + (<<moves>> ? 1 : 0) >= stop_after[stop_now];"""

_LATE_STEP = """\
      if (stops_late) begin
        rested <= rested == FILL ? 0 : rested + 1;
        if (rested == FILL) late <= late + 1;
      end"""

_HELD_STEP = """\
      if (stops_held) begin
        stopped <= stopped == FILL ? 0 : stopped + 1;
        if (stopped == FILL) begin
          if (!resets) stop <= stop + 1;
          if (a_index != stop_held[stop_now] && !done) begin
            $display("FAIL: the receiver stops: A's tready must fall after %0d beats, not %0d (phase %0d)",
                     stop_held[stop_now], a_index, phase);
            finish;
          end
        end
      end
"""


@dataclass(frozen=True, kw_only=True)
class Stops:
    """Stops of a receiver, each for `cycles`, long enough to stop everything else.

    `late` says how many results are left at those near a phase's end. `held` says for each in a phase of its own after
    how many results it comes, and how many beats of A are taken then; there is none where it is empty. After resets
    there is one alone, the one that is `after_reset` in their order, or, where `held` is empty, one from the reset on.
    `fills` are stops in the same phase, instead of `held`.
    """

    cycles: int
    late: Sequence[int]
    held: Mapping[int, int] = field(default_factory=dict)
    after_reset: int = 0
    fills: Fills | None = None

    def declarations(self, moves: str) -> str:
        """Declarations: whether the receiver stops, in `receiver_stops`; `moves` says that a result is taken."""
        late = fill(_LATE, fill_cycles=self.cycles, moves=moves, late=len(self.late))
        if not self.held:
            full = "" if self.fills is None else f"{self.fills.declarations(moves)}\n"
            stops = "stops_late" if self.fills is None else "stops_late || stops_full"
            return f"{late}\n{full}  wire receiver_stops = {stops} || (resets && kind == 2'd{Kind.STOPPED.value});"
        held = fill(_HELD, stops=len(self.held), after_reset=self.after_reset, moves=moves, kind=Kind.STOPPED.value)
        return f"{late}\n{held}\n  wire receiver_stops = stops_held || stops_late;"

    @property
    def step(self) -> str:
        """Counters of a cycle, and the conditions at the end of a stop."""
        full = "" if self.fills is None else f"\n{self.fills.step}"
        return f"{_LATE_STEP}\n{_HELD_STEP}" if self.held else f"{_LATE_STEP}{full}"

    @property
    def reset(self) -> list[str]:
        """Actions of a reset."""
        if self.held:
            return ["      stopped <= 0;"]
        return [] if self.fills is None else self.fills.reset

    @property
    def again(self) -> list[str]:
        """Actions before the next phase."""
        return ["          late <= 0;"]

    @property
    def new_round(self) -> str:
        """Actions before the phases are repeated."""
        return "\n            stop <= 0;" if self.held else ""

    @property
    def contents(self) -> list[str]:
        """The stops, those with the most results left first."""
        late = ["    i = 0;", calls(f"l({left});" for left in sorted(self.late, reverse=True))]
        held = ["    i = 0;", calls(f"h({after}, {held});" for after, held in self.held.items())]
        return [*late, *(held if self.held else [])]
