"""The board's pins: those of amaranth-boards, and a file of constraints with each of the top's ports."""

from __future__ import annotations

import re
import subprocess

import pytest

from systoliq.board.boards import open_board
from systoliq.hw.soc import SocConfig
from systoliq.soc.board import PINS, board_top, constraints, stem


def sites(platform, name, number=0, subsignal=None):
    (found,) = (each for each in platform.resources if (each.name, each.number) == (name, number))
    (io,) = (io for io in found.ios if subsignal is None or io.name == subsignal)
    return (io if subsignal is None else io.ios[0]).names


def test_the_sites_are_those_of_amaranth_boards():
    boards = pytest.importorskip("amaranth_boards.ulx3s", reason="pip install amaranth-boards")
    platform, pins = boards.ULX3S_85F_Platform, PINS["ulx3s-85f"]
    assert [pins.clock] == sites(platform, "clk25")
    assert [pins.button] == sites(platform, "button_fire")
    assert [pins.tx] == sites(platform, "uart", subsignal="tx")
    assert pins.leds == tuple(sites(platform, "led", index)[0] for index in range(8))


def test_the_sites_of_the_orangecrab_are_those_of_amaranth_boards():
    boards = pytest.importorskip("amaranth_boards.orangecrab_r0_2", reason="pip install amaranth-boards")
    platform, pins = boards.OrangeCrabR0_2_25FPlatform, PINS["orangecrab"]
    assert [pins.clock] == sites(platform, "clk")
    assert [pins.button] == sites(platform, "button")
    (button,) = (each for each in platform.resources if each.name == "button")
    assert pins.button_type == button.attrs["IO_TYPE"]
    assert pins.active_low
    assert button.ios[0].invert
    (led,) = (each for each in platform.resources if each.name == "rgb_led")
    sites_of = {each.name: each.ios[0] for each in led.ios}
    assert pins.leds == tuple(site for color in "gbr" for site in sites_of[color].names)
    assert all(each.invert for each in sites_of.values())
    (header,) = (each for each in platform.connectors if each.name == "io")
    assert pins.tx == header.mapping["1"]


@pytest.mark.simulator
@pytest.mark.parametrize(("board", "width", "shown"), [("ulx3s-85f", 8, "10010101"), ("orangecrab", 3, "010")])
def test_the_leds_are_the_firmwares_and_the_trap(tmp_path, board, width, shown):
    """Under Icarus, before a system whose firmware sets 0x15 and that gives up. OrangeCrab's LEDs are on at 0."""
    system = f"""
module soc(input clk, input rst, output tx, output [7:0] leds, output trap);
  assign tx = 1'b1;
  assign leds = 8'h15;
  assign trap = 1'b1;
endmodule
module bench;
  wire [{width - 1}:0] leds;
  soc_{stem(board)} top(.clock(1'b0), .button(1'b0), .tx(), .leds(leds));
  initial #1 $display("%b", leds);
endmodule
"""
    assert simulated(tmp_path, board_top("soc", board) + system) == f"{shown}\n"


@pytest.mark.simulator
@pytest.mark.parametrize("board", PINS)
def test_the_reset_ends_and_the_button_brings_it_back(tmp_path, board):
    """The reset after each of 24 edges of the clock, then of 24 at the first 4 of which the button is pressed."""
    pressed = "0" if PINS[board].active_low else "1"
    system = f"""
module soc(input clk, input rst, output tx, output [7:0] leds, output trap);
endmodule
module bench;
  reg clock = 0;
  reg button;
  soc_{stem(board)} top(.clock(clock), .button(button), .tx(), .leds());
  integer cycle;
  initial for (cycle = 0; cycle < 48; cycle = cycle + 1) begin
    button = (cycle >= 24 && cycle < 28) ^ ~1'b{pressed};
    #1 clock = 1;
    #1 $write("%b", top.reset);
    clock = 0;
  end
endmodule
"""
    shown = simulated(tmp_path, board_top("soc", board) + system)
    assert shown[:24] == "1" * 15 + "0" * 9
    assert shown[24:] == "000" + "1" * 18 + "000"


def simulated(folder, verilog):
    source, program = folder / "top.v", folder / "top"
    source.write_text(verilog)
    subprocess.run(["iverilog", "-g2005", "-Wall", "-s", "bench", "-o", program, source], check=True)
    return subprocess.run(["vvp", program], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("board", PINS)
def test_each_port_has_its_site_and_its_voltage(board):
    """And the clock is what the UART's speed was made for."""
    config, pins = SocConfig(clock_hz=round(open_board(board).hz)), PINS[board]
    text = constraints(open_board(board).title, pins, config)
    head = board_top("soc", board).split(");")[0]
    ports = {
        f"{name}[{index}]" if width else name
        for width, name in re.findall(r"(?:input|output) wire (?:\[(\d+):0\] )?(\w+)", head)
        for index in range(int(width or 0) + 1)
    }
    assert {name for name, _ in re.findall(r'LOCATE COMP "([^"]+)" SITE "(\w+)";', text)} == ports
    assert set(re.findall(r'IOBUF PORT "([^"]+)" IO_TYPE=LVCMOS33;', text)) == ports - {"button"}
    assert f'FREQUENCY PORT "clock" {config.clock_hz / 1e6:g} MHZ;' in text
    assert f'IOBUF PORT "button" IO_TYPE={pins.button_type};' in text
