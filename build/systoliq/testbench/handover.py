"""Handover of a buffer for two groups of A: the second one is there in the very cycle in which the first one leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .text import fill

__all__ = ["Handover"]

_DECLARATIONS = """\

  // Groups of A in phase <<phase>>, four by four: the first waits until all is at rest, the second one's last beat
  // until the first has been repeated; the others come at full rate, and find no more room than there is.
  localparam GROUP = <<beats>>;
  integer since_group = 0;  // cycles from the last beat of a group to that which is sent now
  integer meeting = 0;
  wire [31:0] met = <<cycles>> + (meeting % 5 + 1) / 2 * (meeting % 5 % 2 == 1 ? 1 : -1);  // 0, 1, -1, 2, -2 more
  wire takes_group = s_axis_a_tvalid && s_axis_a_tready && a_index % GROUP == GROUP - 1;
  wire a_waits = phase == 3'd<<phase>> && (a_next % (4 * GROUP) == 0 ? idle <= QUIET :
                 a_next % (4 * GROUP) == 2 * GROUP - 1 && since_group < met);"""

_STEP = """\
      since_group <= takes_group ? 2 : since_group + 1;
      if (phase == 3'd<<phase>> && takes_group && a_index % (4 * GROUP) == 2 * GROUP - 1) meeting <= meeting + 1;"""


@dataclass(frozen=True, kw_only=True)
class Handover:
    """A group has `beats`, and leaves its buffer `cycles` after its last beat came, or up to two cycles earlier or
    later.
    """

    beats: int
    cycles: int
    phase: ClassVar[int] = 6

    @property
    def declarations(self) -> str:
        """Declarations: whether A waits, in `a_waits`."""
        return fill(_DECLARATIONS, phase=self.phase, beats=self.beats, cycles=self.cycles)

    @property
    def step(self) -> str:
        """Counters of a cycle."""
        return fill(_STEP, phase=self.phase)
