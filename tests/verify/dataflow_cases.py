"""Cases of dataflow."""

from __future__ import annotations

MODULE = """module t(
  input wire clk,
  input wire [8:0] i__payload,
  input wire s,
  input wire [2:0] n,
  output wire [8:0] o__payload,
  output wire o__valid
);
  wire [7:0] d;
  reg [7:0] r = 8'h00;
  reg v = 1'h0;
  reg [7:0] memory [7:0];
  reg [7:0] word;
  assign d = i__payload[7:0];
  {body}
endmodule
"""
CASES = {  # statements, and which bits of o__payload depend on data and are computed from it
    "copied": ("assign o__payload = i__payload;", 0xFF, 0),
    "chosen": ("assign o__payload = s ? i__payload : 9'h012;", 0xFF, 0),
    "gated": ("assign o__payload = { 1'h0, d & { 8{ s } } };", 0xFF, 0),
    "in a register": ("always @(posedge clk) if (s) r <= d; assign o__payload = { s, r };", 0xFF, 0),
    "in a memory": (
        "always @(posedge clk) begin if (s) memory[n] <= d; word <= memory[n]; end assign o__payload = { s, word };",
        0xFF, 0),
    "half": ("assign o__payload = { 5'h00, d[7:4] };", 0x0F, 0),
    "shifted": ("assign o__payload = { d, 1'h0 } >> 32'd2;", 0x7F, 0),
    "inverted": ("assign o__payload = { s, ~ d };", 0xFF, 0xFF),
    "inverted later": ("assign o__payload = { s, d ^ { 8{ s } } };", 0xFF, 0xFF),
    "added to": ("assign o__payload = { s, d } + 9'h001;", 0x1FF, 0x1FF),
    "on a pair": ("assign o__payload = { s, d == 8'h42 ? 8'h00 : d };", 0xFF, 0xFF),
    "kept on a byte": ("always @(posedge clk) if (d == 8'h42) r <= 8'h01; assign o__payload = { s, r };", 0xFF, 0xFF),
    "looked up": ("always @(posedge clk) word <= memory[d[2:0]]; assign o__payload = { s, word };", 0xFF, 0xFF),
    "left out": ("assign o__payload = { s, 8'h00 };", 0, 0),
}  # fmt: skip
