// A counter that also adds up wide words: enough to see ports of every width move.
module counter #(
    parameter WIDTH = 4096
) (
    input wire clk,
    input wire rst,
    input wire enable,
    input wire [WIDTH-1:0] word,
    output reg [WIDTH-1:0] sum,
    output reg [31:0] count
);
  always @(posedge clk)
    if (rst) begin
      sum   <= 0;
      count <= 0;
    end else if (enable) begin
      sum   <= sum + word;
      count <= count + 1;
    end
endmodule
