"""Emitted Verilog as people read it: heads of modules, their order, names; and what Yosys wrote is all there."""

from __future__ import annotations

import re

import numpy as np
import pytest

from systoliq.golden import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, AxiBareArray, AxiDense, BareArray, Dense, emit_verilog
from systoliq.hw.engine import EngineConfig
from systoliq.hw.readable import readable
from systoliq.sim.engine import Engine

TEXT = """\
module top(x, \\begin , rst, y, clk);
  wire \\$1 ;
  input \\begin ;
  wire \\begin ;
  input clk;
  wire clk;
  input rst;
  wire rst;
  input [3:0] x;
  wire [3:0] x;
  output y;
  reg y = 1'h0;
  wire x_1;
  wire \\x$1 ;
  wire [1:0] \\now.last ;
  always @(posedge clk)
    y <= \\$1 ;
  assign \\$1  = \\now.last [0];
  zz_second second (
    .\\end (\\begin )
  );
  aa_first \\first$4  (
    .\\end (x_1)
  );
endmodule

module aa_first(nothing, \\end );
  input \\end ;
  wire \\end ;
  output [-1:0] nothing;
  wire [-1:0] nothing;
  VENDOR #(
    .A(1)
  ) cell (
    .B(\\end )
  );
endmodule

module zz_second(\\end );
  input \\end ;
  wire \\end ;
  aa_first inner (
    .\\end (\\end )
  );
endmodule
"""

READABLE = """\
module top(
  input wire clk,
  input wire rst,
  output reg y = 1'h0,
  input wire [3:0] x,
  input wire begin_
);
  wire _1;
  wire x_1;
  wire x_1_;
  wire [1:0] now_last;
  always @(posedge clk)
    y <= _1;
  assign _1 = now_last[0];
  zz_second second (
    .end_(begin_)
  );
  aa_first first_4 (
    .end_(x_1)
  );
endmodule

module zz_second(
  input wire end_
);
  aa_first inner (
    .end_(end_)
  );
endmodule

module aa_first(
  output wire [-1:0] nothing,
  input wire end_
);
  VENDOR #(
    .A(1)
  ) cell (
    .B(end_)
  );
endmodule
"""


def dense() -> AxiDense:
    layer = MatMulLayer(
        name="layer",
        b=np.arange(28, dtype=np.int8).reshape(7, 4),
        a_scale=np.float32(0.02),
        a_zero_point=np.int8(3),
        b_scale=np.float32(0.01),
        b_zero_point=np.int8(1),
        y_scale=np.float32(0.5),
        y_zero_point=np.int8(-5),
    )
    constants = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    return AxiDense(Dense(layer, constants, ArrayConfig(rows=2, cols=2)))


TOPS = {
    "layer": dense,
    "array": lambda: AxiBareArray(BareArray(ArrayConfig(rows=2, cols=3))),
    "engine": lambda: Engine(EngineConfig(rows=2, cols=2, lanes=2)).hardware,
}


def test_names_heads_and_order() -> None:
    assert readable(TEXT, "top", {"top": ["y", "x"]}) == READABLE


@pytest.mark.parametrize("kind", TOPS)
def test_emitted(kind: str) -> None:
    top = TOPS[kind]()
    text = emit_verilog(top, "block")
    assert "\\" not in text
    heads = dict(re.findall(r"^module (\w+)\(\n(.*?)^\);", text, re.MULTILINE | re.DOTALL))
    assert len(heads) == text.count("endmodule") > 5
    for name, head in heads.items():
        ports = re.findall(
            r"^  (?:input|output) (?:wire|reg) (?:\[\d+:0\] )?(\w+)(?: = \S+)?(?:,|\n\Z)", head, re.MULTILINE
        )
        clocking = [port for port in ports if port in ("clk", "rst")]
        assert ports[: len(clocking)] == clocking == sorted(clocking)
        comments = re.findall(r"^  // .*", head, re.MULTILINE)
        assert bool(comments) == (name == "block")
        assert len(comments) == len(set(comments))  # one for a group, before its first port
    ports = re.findall(r"(\w+),?$", re.sub(r"  //.*", "", heads["block"]), re.MULTILINE)
    assert [port for port in ports if port] == ["clk", "rst", *top.signature.members]


@pytest.mark.parametrize("kind", TOPS)
def test_modules_stand_in_the_order_of_the_hierarchy(kind: str) -> None:
    text = emit_verilog(TOPS[kind](), "block")
    bodies = dict(re.findall(r"^module (\w+)\((.*?)^endmodule", text, re.MULTILINE | re.DOTALL))

    def down(name: str) -> list[str]:
        used = re.findall(r"^  (\w+) \w+ \($", bodies[name], re.MULTILINE)
        return [name, *(each for child in used if child in bodies for each in down(child))]

    assert list(dict.fromkeys(down("block"))) == list(bodies)
