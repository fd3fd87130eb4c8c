"""Fills: a phase of a testbench in which the sender never runs dry and stops of the receiver fill every buffer."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from systoliq.hw.network.pipeline import Buffer

from .text import fill

__all__ = ["NETLIST", "Fills"]

NETLIST = "NETLIST"
"""The macro that leaves out what looks into the hierarchy, which a netlist no longer has."""

_RESULTS = """\
  // In phase 5 the senders send their few images again and again. All receivers stop FILLS times, each time after
  // FILL_GAP more results, until no beat was taken for FILL_REST cycles. After the last stop the senders only end the
  // image at hand.
  localparam FILLS = <<count>>;
  localparam FILL_GAP = <<gap>>;
  localparam FILL_REST = <<rest>>;
  localparam FILL_LIMIT = <<limit>>;  // cycles of a stop
<<inputs>>
  localparam Y_IMAGE = <<y_image>>;  // of all outputs
  localparam [31:0] FOREVER = <<forever>>;  // images
  reg [31:0] a_images = FOREVER;  // of phase 5
  wire [31:0] results = phase == 3'd0 ? RESULTS : phase == 3'd5 ? a_images * Y_IMAGE : FEW;"""

_DECLARATIONS = """\

  integer fills = 0;  // stops that are over
  integer rests = 0;
  integer filling = 0;
  wire stops_full = phase == 3'd5 && fills < FILLS && taken + (<<moves>> ? 1 : 0) >= 1 + fills * FILL_GAP;
  wire at_rest = stops_full && rests == FILL_REST;<<seen>>"""

_SEEN = """

`ifndef <<netlist>>
  // Which buffers refuse a beat. A netlist has no hierarchy to look into: define <<netlist>> for it.
  wire [<<top>>:0] refuses = {
<<refusals>>
  };
  reg [<<top>>:0] was_full = <<count>>'d0;  // at the end of a stop
<<levels>>`endif"""

_STEP = """\
      if (stops_full) begin
        rests <= <<enters>> ? 0 : rests + 1;
        filling <= filling + 1;
        if (filling == FILL_LIMIT && !done) begin
          $display("FAIL: the receiver stops: A's tready must fall within %0d cycles (phase %0d)", FILL_LIMIT, phase);
          finish;
        end
        if (at_rest) begin
          rests <= 0;
          filling <= 0;
          fills <= fills + 1;
          if (fills == FILLS - 1) a_images <= <<at_hand>>;
        end
      end
"""

_LEVEL = """\
  integer level_<<index>> = 0;  // beats in <<buffer>>
"""

_COUNT = """\
      level_<<index>> <= level_<<index>> + (<<path>>.i__valid && <<path>>.i__ready ? 1 : 0)
                 - (<<path>>.o__valid && <<path>>.o__ready ? 1 : 0);
      if ((level_<<index>> > <<holds>> || (at_rest && refuses[<<index>>] && level_<<index>> != <<holds>>))
          && !done) begin
        $display("FAIL: <<buffer>> must hold <<holds>> beats when it is full, not %0d (phase %0d)", level_<<index>>,
                 phase);
        finish;
      end
"""

_LOOK = """\
`ifndef <<netlist>>
<<counts>>      if (at_rest) was_full <= was_full | refuses;
      if (phase == 3'd5 && taken == results && quiet == 0) begin
<<looks>>
      end
`endif
"""

_MUST = """\
        if (was_full[<<index>>] !== 1'b1 && !done) begin
          $display("FAIL: the receiver's stops must fill <<buffer>>, and did not (phase %0d)", phase);
          finish;
        end"""

_END = """
`ifndef <<netlist>>
<<each>>
`endif"""

_NEVER_FULL = """\
            if (was_full[<<index>>] !== 1'b1) $display("Note: <<buffer>> was never full");"""


@dataclass(frozen=True, kw_only=True)
class Fills:
    """`count` stops of the receiver in phase 5, during which A always has a beat to offer.

    An image has beats of `inputs`, by letter, and `y_image` beats of results of all outputs. A stop ends when no beat
    was taken for `rest` cycles; one of more than `limit` cycles is an error. Each of the `buffers` of `dut.pipeline` is
    observed in the hierarchy. A buffer without a parallel path must refuse a beat at the end of a stop, because it is
    full; the testbench prints a note for other buffers that never do. One that says how many beats it holds must hold
    as many when it is full, and never more. Where a netlist has no hierarchy the macro `NETLIST` leaves this out.
    """

    count: int
    rest: int
    limit: int
    inputs: Mapping[str, int]
    y_image: int
    buffers: Sequence[Buffer] = ()

    @property
    def gap(self) -> int:
        """Results between stops: over `y_image` stops each place in an image has one, and any few are far apart."""
        start = round(0.618 * self.y_image)
        return next(gap for gap in range(max(start, 1), 2 * self.y_image + 2) if math.gcd(gap, self.y_image) == 1)

    @property
    def results(self) -> str:
        """Number of results of a phase, in `results`."""
        return fill(
            _RESULTS,
            count=self.count,
            gap=self.gap,
            rest=self.rest,
            limit=self.limit,
            inputs="\n".join(
                f"  localparam {letter.upper()}_IMAGE = {beats};  // beats of an image"
                for letter, beats in self.inputs.items()
            ),
            y_image=self.y_image,
            forever=0x7FFFFFFF // max(*self.inputs.values(), self.y_image),
        )

    def declarations(self, moves: str) -> str:
        """Declarations: whether the receiver stops, in `stops_full`; `moves` says that a result is taken."""
        return fill(_DECLARATIONS, moves=moves, seen=self._seen)

    @property
    def _seen(self) -> str:
        if not self.buffers:
            return ""
        paths = [f"dut.pipeline.{each.path}" for each in reversed(self.buffers)]
        refusals = ",\n".join(f"    {path}.i__valid && !{path}.i__ready" for path in paths)
        levels = "".join(fill(_LEVEL, index=index, buffer=each.words) for index, each in self._counted)
        return fill(_SEEN, netlist=NETLIST, top=len(paths) - 1, count=len(paths), refusals=refusals, levels=levels)

    @property
    def _counted(self) -> list[tuple[int, Buffer]]:
        """The buffers, by index, whose number of beats can be observed."""
        return [(index, each) for index, each in enumerate(self.buffers) if each.holds is not None]

    @property
    def step(self) -> str:
        """Counters of a cycle, and the checks at the end of the phase that buffers were full."""
        stop = fill(_STEP, enters=self._enters, at_hand=self._at_hand)
        if not self.buffers:
            return stop
        counts = "".join(
            fill(_COUNT, index=index, path=f"dut.pipeline.{each.path}", buffer=each.words, holds=each.holds or 0)
            for index, each in self._counted
        )
        return stop + fill(_LOOK, netlist=NETLIST, counts=counts, looks=self._each(_MUST, alone=True))

    @property
    def _enters(self) -> str:
        """True if an input takes a beat."""
        taken = [f"s_axis_{letter}_tvalid && s_axis_{letter}_tready" for letter in self.inputs]
        return taken[0] if len(taken) == 1 else " || ".join(f"({each})" for each in taken)

    @property
    def _at_hand(self) -> str:
        """How many images were begun: the most of any input."""
        begun = [f"({letter}_next + {letter.upper()}_IMAGE) / {letter.upper()}_IMAGE" for letter in self.inputs]
        return functools.reduce(lambda most, each: f"({most} > {each} ? {most} : {each})", begun)

    @property
    def reset(self) -> list[str]:
        """Actions of a reset."""
        each = [f"      level_{index} <= 0;" for index, _ in self._counted]
        return [f"`ifndef {NETLIST}", *each, "`endif"] if each else []

    @property
    def after_pass(self) -> str:
        """After PASS: which of the other buffers were never full."""
        each = self._each(_NEVER_FULL, alone=False)
        return fill(_END, netlist=NETLIST, each=each) if each else ""

    def _each(self, template: str, *, alone: bool) -> str:
        buffers = [(index, each.words) for index, each in enumerate(self.buffers) if each.alone is alone]
        return "\n".join(fill(template, index=index, buffer=words) for index, words in buffers)
