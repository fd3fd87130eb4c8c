"""Stops of a testbench's receiver, each so long that all else comes to rest: somewhere in a phase, and near its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .resets import Kind
from .text import calls, fill

__all__ = ["Stops"]

_LATE = """\

  // From phase 2 on the receiver stops while a few results are left, in each phase and round another number.
  localparam FILL = <<fill_cycles>>;  // cycles of a stop
  wire [31:0] left = LAST_PHASE + 1 - phase + (LAST_PHASE - 1) * turn;
  wire few_left = phase > 3'd1 && taken + (<<moves>> ? 1 : 0) == results - left;
  integer late = 0;  // cycles of this stop, and after it, until one more is taken"""

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

_LATE_STEP = "      late <= few_left ? late + 1 : 0;"

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
    """Stops of a receiver, each of so many `cycles` that all else comes to a stop, too.

    `held` says for each in a phase of its own after how many results it comes, and how many beats of A are taken then;
    there is none where it is empty. After resets there is one alone, the one that is `after_reset` in their order.
    """

    cycles: int
    held: Mapping[int, int] = field(default_factory=dict)
    after_reset: int = 0

    def declarations(self, moves: str) -> str:
        """Whether the receiver stops, in `receiver_stops`; `moves` says that a result is taken."""
        late = fill(_LATE, fill_cycles=self.cycles, moves=moves)
        if not self.held:
            return f"{late}\n  wire receiver_stops = few_left && late <= FILL;"
        held = fill(_HELD, stops=len(self.held), after_reset=self.after_reset, moves=moves, kind=Kind.STOPPED.value)
        return f"{late}\n{held}\n  wire receiver_stops = stops_held || (few_left && late <= FILL);"

    @property
    def step(self) -> str:
        """What is counted in a cycle, and what must be true at the end of a stop."""
        return f"{_LATE_STEP}\n{_HELD_STEP}" if self.held else _LATE_STEP

    @property
    def reset(self) -> list[str]:
        """What a reset does."""
        return ["      stopped <= 0;"] if self.held else []

    @property
    def new_round(self) -> str:
        """What comes before the phases are run once more."""
        return "\n            stop <= 0;" if self.held else ""

    @property
    def contents(self) -> list[str]:
        """The stops of a phase of their own."""
        return ["    i = 0;", calls(f"h({after}, {held});" for after, held in self.held.items())] if self.held else []
