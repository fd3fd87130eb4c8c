"""Tops of boards: pins as the boards' makers name them, a PLL at the right setting, the link's divisor."""

from __future__ import annotations

import re

import numpy as np
import pytest

from systoliq.board.boards import BOARDS, open_board
from systoliq.board.linked import linked
from systoliq.board.platform import prepared
from systoliq.board.pll import Setting
from systoliq.design import LayerDesign
from systoliq.errors import InputError
from systoliq.golden.layer import MatMulLayer
from systoliq.hw.hierarchy import mark_used

pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed: pip install 'systoliq[board]'")

PINS = {  # clock, rx, tx, LED: of the makers' schematics and pin tables
    "icebreaker": ("35", "6", "9", "11"),
    "ulx3s-85f": ("G2", "M1", "L4", "B2"),
    "orangecrab": ("A9", "N17", "M18", "M3"),
    "colorlight-i5": ("P3", "H18", "J17", "U16"),
    "colorlight-i9": ("P3", "H18", "J17", "L2"),
    "tang-nano-9k": ("52", "18", "17", "10"),
    "tang-nano-20k": ("4", "70", "69", "15"),
    "crosslink-nx-evn": ("L13", "F16", "F18", "E17"),
    "gatemate-a1-evb": ("IO_SB_A8", "IO_SA_A6", "IO_SA_B6", "IO_SB_B6"),
}
CELL = {"ice40": "SB_PLL40_PAD", "ecp5": "EHXPLLL", "gowin": "rPLL", "gatemate": "CC_PLL", "nexus": "PLL"}
_NAMED = re.compile(r'(?:set_io|LOCATE COMP|IO_LOC|NET) "?(\w+?)"? (?:SITE |Loc = )?"?(\w+)"?')
_SITED = re.compile(r"ldc_set_location -site \{(\w+)\} \[get_ports (\w+)\]")


@pytest.fixture(scope="module")
def link():
    layer = MatMulLayer(
        name="tiny", b=np.ones((3, 2), np.int8), b_scale=np.float32(0.1), b_zero_point=np.int8(0),
        a_scale=np.float32(0.1), a_zero_point=np.uint8(0), y_scale=np.float32(0.5), y_zero_point=np.int8(0),
    )  # fmt: skip
    made = linked(LayerDesign(layer))
    mark_used(made)
    return made


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", BOARDS)
def test_the_top_has_the_boards_pins_and_pll(name, link):
    board = open_board(name)
    setting = board.pll.at_most(board.hz, 50e6) or Setting(hz=board.hz)
    verilog, constraints = prepared(board, link, setting, 115200)
    pins = dict(_NAMED.findall(constraints)) | {port: site for site, port in _SITED.findall(constraints)}
    clock, rx, tx, led = PINS[name]
    assert pins["uart_0__rx__io"] == rx
    assert pins["uart_0__tx__io"] == tx
    assert clock in pins.values()
    assert pins[f"{board.led[0]}_0__{'g__' if len(board.led) > 1 else ''}io"] == led
    assert len(re.findall(rf"\b{CELL[board.family]} ", verilog)) == bool(setting.dividers)
    divisor = round(setting.hz / 115200)
    assert f"16'h{divisor:04x}" in verilog


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BOARDS)
def test_without_a_pll_the_oscillator_is_the_clock(name, link):
    board = open_board(name)
    verilog, _ = prepared(board, link, Setting(hz=board.hz), 9600)
    assert not re.search(rf"\b{CELL[board.family]} ", verilog)
    assert f"16'h{round(board.hz / 9600):04x}" in verilog


def test_unknown_boards_list_the_known():
    with pytest.raises(InputError, match=f"board must be one of {', '.join(PINS)}, not 'arty'"):
        open_board("arty")
