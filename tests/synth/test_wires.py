"""The delay of a wire that Yosys reckons with."""

from __future__ import annotations

import dataclasses

from systoliq.synth import open_target
from systoliq.synth.flow import synthesized

SUM = """
module wide(input wire clk, input wire [11:0] a, input wire [11:0] b, output reg [11:0] y, output reg any);
  always @(posedge clk) begin
    y <= a[0] ? a + b : a ^ b;
    any <= |(a & b);
  end
endmodule
"""
ECP5 = open_target("ecp5-25k")


def netlist(wire: int) -> str:
    """The netlist of SUM, with this delay."""
    folder = synthesized(SUM, "wide", dataclasses.replace(ECP5, wire=wire))
    return (folder / "netlist.v").read_text()


def test_the_parts_of_the_command_are_the_command():
    """With Yosys' own 300 ps in each part: what is between them is what `synth_ecp5` does there."""
    assert netlist(300) == netlist(0)


def test_another_delay_is_another_netlist():
    """It is made anew, not taken from the cache; whether its cells differ is up to Yosys."""
    folders = {synthesized(SUM, "wide", dataclasses.replace(ECP5, wire=wire)) for wire in (300, 1200)}
    assert len(folders) == 2
    assert ECP5.wire == 1200
