"""The board's pins: those of amaranth-boards, and a file of constraints with each of the top's ports."""

from __future__ import annotations

import re

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
