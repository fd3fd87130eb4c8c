// A wrapper that gives the layer of `systoliq emit resnet8-fc --out out/fc` AXI4-Stream's names and active-low reset.
//     iverilog -g2005 -o t examples/active_low_reset.v out/fc/resnet8_fc.v
// `aresetn` is synchronous to `aclk`, as are the resets of AXI interconnects and of Processor System Reset.
module fc_top (
  input aclk,
  input aresetn,
  input [7:0] s_axis_tdata,
  input s_axis_tvalid,
  output s_axis_tready,
  input s_axis_tlast,
  output [7:0] m_axis_tdata,
  output m_axis_tvalid,
  input m_axis_tready,
  output m_axis_tlast,
  output error
);
  resnet8_fc u_fc (
    .clk(aclk),
    .rst(!aresetn),
    .s_axis_a_tdata(s_axis_tdata),
    .s_axis_a_tvalid(s_axis_tvalid),
    .s_axis_a_tready(s_axis_tready),
    .s_axis_a_tlast(s_axis_tlast),
    .m_axis_y_tdata(m_axis_tdata),
    .m_axis_y_tvalid(m_axis_tvalid),
    .m_axis_y_tready(m_axis_tready),
    .m_axis_y_tlast(m_axis_tlast),
    .error(error)
  );
endmodule

// An active-low reset that comes at any time: `rst` rises at once, and falls after two edges of `clk`.
module reset_synchronizer (
  input clk,
  input aresetn,
  output rst
);
  reg [1:0] state;
  always @(posedge clk or negedge aresetn)
    if (!aresetn) state <= 2'b11;
    else state <= {state[0], 1'b0};
  assign rst = state[1];
endmodule
