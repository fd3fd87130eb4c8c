"""The board's pins: those of amaranth-boards, and a file of constraints with each of the top's ports."""

from __future__ import annotations

import re
import subprocess

import pytest

from systoliq.hw.soc import SocConfig
from systoliq.soc.board import ULX3S, board_top, constraints


def sites(platform, name, number=0, subsignal=None):
    (found,) = (each for each in platform.resources if (each.name, each.number) == (name, number))
    (io,) = (io for io in found.ios if subsignal is None or io.name == subsignal)
    return (io if subsignal is None else io.ios[0]).names


def test_the_sites_are_those_of_amaranth_boards():
    boards = pytest.importorskip("amaranth_boards.ulx3s", reason="pip install amaranth-boards")
    platform = boards.ULX3S_85F_Platform
    assert [ULX3S.clock] == sites(platform, "clk25")
    assert [ULX3S.button] == sites(platform, "button_fire")
    assert [ULX3S.tx] == sites(platform, "uart", subsignal="tx")
    assert ULX3S.leds == tuple(sites(platform, "led", index)[0] for index in range(8))


@pytest.mark.simulator
def test_the_leds_are_the_firmwares_and_the_trap(tmp_path):
    """Under Icarus, before a system whose firmware sets 0x15 and that gives up."""
    system = """
module soc(input clk, input rst, output tx, output [7:0] leds, output trap);
  assign tx = 1'b1;
  assign leds = 8'h15;
  assign trap = 1'b1;
endmodule
module bench;
  wire [7:0] leds;
  soc_ulx3s top(.clock(1'b0), .button(1'b0), .tx(), .leds(leds));
  initial #1 $display("%b", leds);
endmodule
"""
    source, program = tmp_path / "top.v", tmp_path / "top"
    source.write_text(board_top("soc") + system)
    subprocess.run(["iverilog", "-g2005", "-Wall", "-s", "bench", "-o", program, source], check=True)
    shown = subprocess.run(["vvp", program], check=True, capture_output=True, text=True).stdout
    assert shown == "10010101\n"


def test_each_port_has_its_site_and_its_voltage():
    """And the clock is what the UART's speed was made for."""
    text, config = constraints(ULX3S, SocConfig()), SocConfig()
    head = board_top("soc").split(");")[0]
    ports = {
        f"{name}[{index}]" if width else name
        for width, name in re.findall(r"(?:input|output) wire (?:\[(\d+):0\] )?(\w+)", head)
        for index in range(int(width or 0) + 1)
    }
    assert {name for name, _ in re.findall(r'LOCATE COMP "([^"]+)" SITE "(\w+)";', text)} == ports
    assert set(re.findall(r'IOBUF PORT "([^"]+)" IO_TYPE=LVCMOS33', text)) == ports
    assert f'FREQUENCY PORT "clock" {config.clock_hz / 1e6:g} MHZ;' in text
    assert 'IOBUF PORT "button" IO_TYPE=LVCMOS33 PULLMODE=DOWN;' in text
