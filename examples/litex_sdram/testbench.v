// Simulates the system: sends it the messages of uart.mem, each when it asks, and prints what it sends.
`timescale 1ns/1ps

module testbench;
  localparam BIT = 64; // cycles of a bit, as in system.py
  localparam TASK = 48; // bytes at the start of a message, as in main.c
  reg clk = 0, rx = 1;
  wire tx;
  top dut(.clk(clk), .serial_rx(rx), .serial_tx(tx));

  reg [7:0] bytes [0:1048575];
  reg [7:0] received = 0;
  integer place, limit, first = 0, cycle = 0, bits = 0, wait_for = 0, sent = 0, phase = 0;
  reg asked = 0;

  initial begin
    if (!$value$plusargs("limit=%d", limit)) limit = 100000000;
    for (place = 0; place < 1048576; place = place + 1) bytes[place] = 0;
    $readmemh("uart.mem", bytes);
  end

  wire [31:0] size = {bytes[first + 7], bytes[first + 6], bytes[first + 5], bytes[first + 4]};
  wire [31:0] next = first + TASK + size;

  always #10 clk = !clk;

  always @(posedge clk) begin // the transmitter: a start bit, eight bits, and two stop bits
    if (asked && sent < next) begin
      rx <= phase < BIT ? 1'b0 : phase < 9 * BIT ? bytes[sent][phase / BIT - 1] : 1'b1;
      phase <= phase == 11 * BIT - 1 ? 0 : phase + 1;
      if (phase == 11 * BIT - 1) sent <= sent + 1;
    end
  end

  always @(posedge clk) begin // the receiver
    cycle <= cycle + 1;
    if (wait_for > 1) wait_for <= wait_for - 1;
    else if (bits > 0) begin // in the middle of a bit
      if (bits > 1) received <= {tx, received[7:1]};
      else if (received == 4 && bytes[next + 3] != 0) begin // the highest byte of the next message's address
        first <= next;
        asked <= 0;
      end else if (received == 4) begin
        $display("ended after %0d cycles", cycle);
        $finish;
      end else if (received == "?") asked <= 1;
      else $write("%c", received);
      bits <= bits - 1;
      wait_for <= bits > 1 ? BIT : 0;
    end else if (!tx && cycle > 16) begin // a start bit
      bits <= 9;
      wait_for <= BIT + BIT / 2;
    end
    if (cycle == limit) begin
      $display("not ended after %0d cycles", cycle);
      $finish;
    end
  end
endmodule
