"""The system on a board: a top with the board's pins, and where these are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from systoliq.hw.soc import SocConfig

__all__ = ["PINS", "Pins", "board_top", "constraints", "stem"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pins:
    """Sites of a board's pins, and options of an `engine` that its part has multipliers for.

    `button_type` is the button's IO_TYPE with what belongs to it. The button and the LEDs of an `active_low` board are
    on at 0.
    """

    clock: str
    button: str
    button_type: str
    tx: str
    leds: tuple[str, ...]
    active_low: bool = False
    engine: Mapping[str, int] = dataclasses.field(default_factory=dict)


PINS = {
    "ulx3s-85f": Pins(
        clock="G2",
        button="R1",
        button_type="LVCMOS33 PULLMODE=DOWN",  # it is open while the button is not pressed
        tx="L4",
        leds=("B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3"),
    ),
    "orangecrab": Pins(
        clock="A9",
        button="J17",
        button_type="SSTL135_I",
        tx="M18",
        leds=("M3", "J3", "K4"),
        active_low=True,
        engine={"rows": 3, "lanes": 1},
    ),
}
"""The boards, by their names in `systoliq.board`. Sites as in amaranth-boards 0.0.21; OrangeCrab's LED is green, blue
and red, and its UART sends on pin 1 of the header.
"""


def stem(board: str) -> str:
    """The name of a board in names of files and modules."""
    return board.split("-")[0]


def board_top(name: str, board: str) -> str:
    """Module `name`_BOARD: a reset of 16 cycles after configuration, and while the button is pressed."""
    pins = PINS[board]
    leds, low = len(pins.leds), "~" * pins.active_low
    return f"""\
// {name} on a board: clock, reset, UART and LEDs; made by systoliq.
module {name}_{stem(board)}(input wire clock, input wire button, output wire tx, output wire [{leds - 1}:0] leds);
  reg [3:0] count = 0;
  reg [1:0] pressed = 0;
  reg reset = 1;
  wire trap;
  wire [7:0] set; // by the firmware
  always @(posedge clock) begin
    pressed <= {{pressed[0], {low}button}};
    if (pressed[1]) count <= 0;
    else if (count != 15) count <= count + 1;
    reset <= count != 15;
  end
  assign leds = {low}{{trap, set[{leds - 2}:0]}};
  {name} system(.clk(clock), .rst(reset), .tx(tx), .leds(set), .trap(trap));
endmodule
"""


def constraints(title: str, pins: Pins, config: SocConfig) -> str:
    """The file of constraints for nextpnr-ecp5."""
    sites = {"clock": pins.clock, "button": pins.button, "tx": pins.tx}
    sites |= {f"leds[{index}]": site for index, site in enumerate(pins.leds)}
    lines = [f"# {title}"]
    for port, site in sites.items():
        kind = pins.button_type if port == "button" else "LVCMOS33"
        lines += [f'LOCATE COMP "{port}" SITE "{site}";', f'IOBUF PORT "{port}" IO_TYPE={kind};']
    return "\n".join([*lines, f'FREQUENCY PORT "clock" {config.clock_hz / 1e6:g} MHZ;', ""])
