"""The system on a board: a top with the board's pins, and where these are."""

from __future__ import annotations

import dataclasses

from systoliq.hw.soc import SocConfig

__all__ = ["ULX3S", "Board", "board_top", "constraints"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Board:
    """A board: its name, and the sites of its pins."""

    title: str
    clock: str
    button: str
    tx: str
    leds: tuple[str, ...]


ULX3S = Board(
    title="ULX3S-85F",
    clock="G2",
    button="R1",
    tx="L4",
    leds=("B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3"),
)
"""Sites as in amaranth-boards 0.0.21; the clock has 25 MHz, as in `SocConfig`."""


def board_top(name: str) -> str:
    """Module `name`_ulx3s: a reset of 16 cycles after configuration, and while the button is pressed."""
    return f"""\
// {name} on a board: clock, reset, UART and LEDs; made by systoliq.
module {name}_ulx3s(input wire clock, input wire button, output wire tx, output wire [7:0] leds);
  reg [3:0] count = 0;
  reg [1:0] pressed = 0;
  reg reset = 1;
  wire trap;
  wire [7:0] set; // by the firmware
  always @(posedge clock) begin
    pressed <= {{pressed[0], button}};
    if (pressed[1]) count <= 0;
    else if (count != 15) count <= count + 1;
    reset <= count != 15;
  end
  assign leds = {{trap, set[6:0]}};
  {name} system(.clk(clock), .rst(reset), .tx(tx), .leds(set), .trap(trap));
endmodule
"""


def constraints(board: Board, config: SocConfig) -> str:
    """The file of constraints for nextpnr-ecp5."""
    sites = {"clock": board.clock, "button": board.button, "tx": board.tx}
    sites |= {f"leds[{index}]": site for index, site in enumerate(board.leds)}
    lines = [f"# {board.title}"]
    for port, site in sites.items():
        pull = " PULLMODE=DOWN" if port == "button" else ""  # it is open while the button is not pressed
        lines += [f'LOCATE COMP "{port}" SITE "{site}";', f'IOBUF PORT "{port}" IO_TYPE=LVCMOS33{pull};']
    return "\n".join([*lines, f'FREQUENCY PORT "clock" {config.clock_hz / 1e6:g} MHZ;', ""])
