"""Proofs that forget data: what they still tell of unknown bits, and that they only ever err on the safe side."""

from __future__ import annotations

import pytest

from systoliq.mutants.any_data import with_any_data
from systoliq.mutants.equivalence import _none_seen
from systoliq.prove.tools import proof_tools
from systoliq.sim.tools import missing_text

pyosys = next(tool for tool in proof_tools() if tool.name == "pyosys")
pytestmark = pytest.mark.skipif(not pyosys.found, reason="" if pyosys.found else missing_text(pyosys))

# What is put comes out of a register two cycles later, or of a memory when it is asked for.
VERILOG = """\
module top(
  input wire clk,
  input wire rst,
  input wire put,
  input wire [11:0] d,
  input wire ask,
  input wire [1:0] where,
  output wire [11:0] seen,
  output wire [11:0] answer
);
  (* keep *) wire systoliq_unknown;
  wire [11:0] _1;
  wire _2;
  wire [11:0] what;
  wire [1:0] place;
  wire writes;
  wire [11:0] read_data;
  reg there = 1'h0;
  reg asked = 1'h0;
  reg [11:0] held = 12'h000;
  always @(posedge clk)
    there <= _2;
  always @(posedge clk)
    asked <= ask;
  always @(posedge clk)
    held <= _1;
  assign _1 = <1>;
  assign _2 = <2>;
  assign what = <what>;
  assign place = <place>;
  assign writes = <writes>;
  assign seen = <seen>;
  assign answer = asked ? read_data : 12'h000;
  top_ram ram (
    .clk(clk),
    .read_data(read_data),
    .read_address(<read>),
    .write(writes),
    .write_address(place),
    .write_data(what)
  );
endmodule

module top_ram(
  input wire clk,
  input wire write,
  input wire [1:0] write_address,
  input wire [11:0] write_data,
  input wire [1:0] read_address,
  output wire [11:0] read_data
);
  reg [11:0] memory [3:0];
  initial begin
    memory[0] = 12'h000;
    memory[1] = 12'h000;
    memory[2] = 12'h000;
    memory[3] = 12'h000;
  end
  always @(posedge clk) begin
    if (write)
      memory[write_address] <= write_data;
  end
  reg [11:0] _0_;
  always @(posedge clk) begin
    _0_ <= memory[read_address];
  end
  assign read_data = _0_;
endmodule
"""
PARTS = {
    "1": "d",
    "2": "put",
    "what": "d",
    "place": "where",
    "writes": "put",
    "seen": "there ? held : 12'h000",
    "read": "where",
}  # fmt: skip


def none_seen(folder, forget, **parts):
    text = VERILOG
    for name, value in (PARTS | parts).items():
        text = text.replace(f"<{name}>", value)
    return _none_seen(with_any_data(text, wider=9) if forget else text, "top", folder, "", 10)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize(
    ("parts", "hidden"),
    [
        ({}, True),
        ({"1": "put ? d : {12{systoliq_unknown}}"}, True),
        ({"what": "put ? d : {12{systoliq_unknown}}"}, True),
        ({"place": "put ? where : {2{systoliq_unknown}}"}, True),
        ({"read": "ask ? where : {2{systoliq_unknown}}"}, True),
        ({"1": "{d[11:1], systoliq_unknown}"}, False),
        ({"1": "{12{systoliq_unknown}}"}, False),
        ({"seen": "{12{1'h0 == 1'h1 ? 1'h0 : systoliq_unknown}}"}, False),
        ({"2": "1'h1 ? systoliq_unknown : put"}, False),
        ({"what": "{systoliq_unknown, d[10:0]}"}, False),
        ({"place": "{where[1], systoliq_unknown}"}, False),
        ({"read": "{systoliq_unknown, where[0]}"}, False),
        ({"writes": "put | systoliq_unknown"}, False),
    ],
)
def test_what_is_unknown_is_seen_or_not_whether_data_are_forgotten_or_not(tmp_path, forget, parts, hidden):
    assert none_seen(tmp_path, forget, **parts) is hidden


def test_what_only_values_hide_is_not_proven_without_them(tmp_path):
    parts = {"1": "12'h000", "seen": "{12{held[0] & systoliq_unknown}}"}
    assert none_seen(tmp_path, False, **parts)
    assert not none_seen(tmp_path, True, **parts)


def test_narrow_registers_and_memories_used_otherwise_stay_as_they_are():
    text = with_any_data(VERILOG, wider=9)
    assert "reg there" in text
    assert "reg [11:0] held" not in text
    assert "reg [11:0] memory" not in text
    assert "reg [11:0] held" in with_any_data(VERILOG, wider=12)
    other = VERILOG.replace("assign read_data = _0_;", "assign read_data = memory[1];")
    assert "reg [11:0] memory" in with_any_data(other, wider=9)
