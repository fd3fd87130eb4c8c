"""The testbench of a system in plain Verilog: a clock, a UART's receiver that prints, and stalls of the bus."""

from __future__ import annotations

from systoliq.hw.soc import SocConfig
from systoliq.hw.soc.registers import LEDS
from systoliq.hw.soc.system import STALL_BITS

__all__ = ["END", "soc_testbench"]

END = 4
"""The byte that ends a simulation: end of transmission."""


def soc_testbench(config: SocConfig, name: str = "soc") -> str:
    """Module `name`_tb. It ends where the UART sends `END`, the processor gives up, or after +limit=N cycles.

    With +rate=N each channel of a throttled system waits in N of 256 cycles, drawn from +seed=N.
    """
    stalls = f"\n  reg [{STALL_BITS - 1}:0] stalls = 0;" if config.throttled else ""
    pin = ", .stalls(stalls)" if config.throttled else ""
    draw = f"""\
    if (rate > 0) for (i = 0; i < {STALL_BITS}; i = i + 1) stalls[i] <= ({{$random(seed)}} % 256) < rate;
"""
    return f"""\
// Testbench of {name}: prints what its UART sends; made by systoliq.
`timescale 1ns/1ps

module {name}_tb;
  localparam BIT = {config.uart_cycles}; // cycles of a bit
  reg clk = 0, rst = 1;
  wire tx, trap;
  wire [{LEDS - 1}:0] leds;{stalls}
  {name} dut(.clk(clk), .rst(rst), .tx(tx), .leds(leds), .trap(trap){pin});

  integer limit, rate, seed, cycle = 0, bits = 0, wait_for = 0, i;
  reg [7:0] received = 0;

  initial begin
    if (!$value$plusargs("limit=%d", limit)) limit = 500000000;
    if (!$value$plusargs("rate=%d", rate)) rate = 0;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
  end

  always #20 clk = !clk;

  always @(posedge clk) begin
    cycle <= cycle + 1;
    rst <= cycle < 4;
{draw if config.throttled else ""}    if (wait_for > 1) wait_for <= wait_for - 1;
    else if (bits > 0) begin // in the middle of a bit
      if (bits > 1) received <= {{tx, received[7:1]}};
      else if (received == {END}) begin
        $display("ended after %0d cycles", cycle);
        $finish;
      end else $write("%c", received);
      bits <= bits - 1;
      wait_for <= bits > 1 ? BIT : 0; // the next start bit may follow at once
    end else if (!rst && !tx) begin // a start bit
      bits <= 9;
      wait_for <= BIT + BIT / 2;
    end
    if (trap && !rst) begin
      $display("the processor gave up after %0d cycles", cycle);
      $finish;
    end
    if (cycle == limit) begin
      $display("not ended after %0d cycles", cycle);
      $finish;
    end
  end
endmodule
"""
