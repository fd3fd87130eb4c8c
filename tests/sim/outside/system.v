// A larger design: a FIFO, a layer, and a second layer that takes the first one's rows as they come.
module system (
  input wire aclk,
  input wire aresetn,
  input wire [15:0] in_tdata,
  input wire in_tvalid,
  output wire in_tready,
  input wire in_tlast,
  output wire [7:0] out_tdata,
  output wire out_tvalid,
  input wire out_tready,
  output wire out_tlast
);
  wire [15:0] fifo_tdata;
  wire [7:0] mid_tdata;
  wire fifo_tvalid, fifo_tready, fifo_tlast, mid_tvalid, mid_tready, mid_tlast;
  fifo u_fifo (
    .clk(aclk), .rst(!aresetn),
    .in_tdata(in_tdata), .in_tvalid(in_tvalid), .in_tready(in_tready), .in_tlast(in_tlast),
    .out_tdata(fifo_tdata), .out_tvalid(fifo_tvalid), .out_tready(fifo_tready), .out_tlast(fifo_tlast)
  );
  first u_first (
    .clk(aclk), .rst(!aresetn), .error(),
    .s_axis_a_tdata(fifo_tdata), .s_axis_a_tvalid(fifo_tvalid), .s_axis_a_tready(fifo_tready),
    .s_axis_a_tlast(fifo_tlast),
    .m_axis_y_tdata(mid_tdata), .m_axis_y_tvalid(mid_tvalid), .m_axis_y_tready(mid_tready), .m_axis_y_tlast(mid_tlast)
  );
  second u_second (
    .clk(aclk), .rst(!aresetn), .error(),
    .s_axis_a_tdata(mid_tdata), .s_axis_a_tvalid(mid_tvalid), .s_axis_a_tready(mid_tready), .s_axis_a_tlast(mid_tlast),
    .m_axis_y_tdata(out_tdata), .m_axis_y_tvalid(out_tvalid), .m_axis_y_tready(out_tready), .m_axis_y_tlast(out_tlast)
  );
endmodule

module fifo (
  input wire clk,
  input wire rst,
  input wire [15:0] in_tdata,
  input wire in_tvalid,
  output wire in_tready,
  input wire in_tlast,
  output wire [15:0] out_tdata,
  output wire out_tvalid,
  input wire out_tready,
  output wire out_tlast
);
  reg [16:0] memory [0:3];
  reg [2:0] head, tail;
  assign in_tready = tail - head != 3'd4;
  assign out_tvalid = tail != head;
  assign {out_tlast, out_tdata} = memory[head[1:0]];
  always @(posedge clk) begin
    if (in_tvalid && in_tready) begin
      memory[tail[1:0]] <= {in_tlast, in_tdata};
      tail <= tail + 3'd1;
    end
    if (out_tvalid && out_tready)
      head <= head + 3'd1;
    if (rst) begin
      head <= 3'd0;
      tail <= 3'd0;
    end
  end
endmodule
