"""Assertions that a mutant leads to no other state: what they hold of, and of what they are not made."""

from __future__ import annotations

import pytest
from tests.mutants.changed import changed

from systoliq.mutants.environment import environment
from systoliq.mutants.equivalence import _always
from systoliq.mutants.next_state import asserted
from systoliq.prove.tools import proof_tools
from systoliq.sim.tools import missing_text

pyosys = next(tool for tool in proof_tools() if tool.name == "pyosys")

# Two words at the most are inside: `count` is 0 to 2, `left` 2 less it. `taken` is never 1 while none is there.
VERILOG = """\
module top(
  input wire clk,
  input wire rst,
  input wire put,
  input wire get,
  output wire full,
  output wire room,
  output wire [2:0] shown
);
  wire puts;
  wire taken;
  wire any;
  wire [2:0] more;
  wire [2:0] less;
  wire [2:0] next;
  wire [3:0] wide;
  reg [2:0] count = 3'h0;
  reg [2:0] left = 3'h2;
  reg [3:0] unread = 4'h0;
  assign full = count == 3'h2;
  assign room = | left;
  assign puts = put & ~ full;
  assign any = | count;
  assign taken = get & any;
  assign more = count + { 2'h0, puts };
  assign less = more - { 2'h0, taken };
  assign next = rst ? 3'h0 : less;
  assign wide = { 1'h0, less } + 4'h1;
  always @(posedge clk)
    count <= next;
  always @(posedge clk)
    if (any | put)
      left <= rst ? 3'h2 : 3'h2 - less;
  top_half half (
    .a(count[1:0]),
    .b(wide[2:0]),
    .y(shown)
  );
endmodule

module top_half(
  input wire [1:0] a,
  input wire [2:0] b,
  output wire [2:0] y
);
  assign y = { 1'h0, a } ^ b;
endmodule
"""

CHANGES = {
    "words that are never there": ("count == 3'h2", "count >= 3'h2", True),
    "a count that is reached": ("count == 3'h2", "count == 3'h1", False),
    "a bit that is never set": ("| count;", "| count[1:0];", True),
    "one of its own": ("assign taken = get & any", "assign taken = get & count[1]", False),
    "a narrower net": ("  wire [2:0] next;", "  wire [1:0] next;", True),
    "one that is too narrow": ("  wire [2:0] next;", "  wire [0:0] next;", False),
    "a narrower register": ("  reg [2:0] count = 3'h0;", "  reg [1:0] count = 3'h0;", True),
    "a narrower register of which all bits are used": ("  reg [2:0] left = 3'h2;", "  reg [0:0] left = 3'h2;", False),
    "a net that nobody reads": ("  reg [3:0] unread = 4'h0;", "  reg [2:0] unread = 4'h0;", None),
    "a net of which a bit is selected": ("  wire [3:0] wide;", "  wire [1:0] wide;", None),
    "a connection": (".a(count[1:0])", ".a(count[2:1])", False),
    "a connection of equals": (".b(wide[2:0])", ".b(less + 3'h1)", True),
    "an enable": ("if (any | put)", "if (any)", False),
    "the same enable": ("if (any | put)", "if (put | any)", True),
    "a register": ("3'h2 - less;", "3'h2 - more;", False),
    "what is no assignment": ("always @(posedge clk)\n    count", "always @(negedge clk)\n    count", None),
}


@pytest.mark.sampled(6)
@pytest.mark.skipif(not pyosys.found, reason="" if pyosys.found else missing_text(pyosys))
@pytest.mark.parametrize("change", CHANGES)
def test_states_are_compared(change, tmp_path):
    old, new, answer = CHANGES[change]
    text = asserted(VERILOG, changed(VERILOG, "top", old, new))
    if answer is None:
        assert text is None
        return
    assert text is not None
    assert "assert" in text
    around = environment(VERILOG, "top", "around")
    assert _always(text + around, "around", tmp_path, "", 20) is answer


def test_the_original_itself_stays():
    """All its lines are there, in their order, and nothing it has is driven anew."""
    text = asserted(VERILOG, changed(VERILOG, "top", "assign taken = get & any", "assign taken = get"))
    assert text is not None
    added = [line for line in text.splitlines() if line not in VERILOG.splitlines()]
    kept = [line for line in text.splitlines() if line in VERILOG.splitlines()]
    assert kept == VERILOG.splitlines()
    assert all(line.lstrip().startswith(("wire [", "always @* assert (systoliq_was_")) for line in added)
