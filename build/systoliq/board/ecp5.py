"""Boards with an ECP5: ULX3S, OrangeCrab, Colorlight i5 and i9."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amaranth.hdl import Instance, IOPort, Signal

from ..synth.targets import open_target
from .description import Board
from .pll import Pll, Setting
from .resources import boards_module

if TYPE_CHECKING:
    from amaranth.build import Platform

__all__ = ["BOARDS", "PLL"]

# Lattice FPGA-DS-02012, ECP5 family, sysCLOCK PLL timing: phase detector, VCO, output, in Hz.
_DETECTOR = (10e6, 400e6)
_VCO = (400e6, 800e6)
_OUT = (3.125e6, 400e6)
_WIDEST = 128  # of each divider


def _settings(oscillator: float) -> Iterator[Setting]:
    """Dividers of the input, of CLKOP, which is fed back, and of CLKOS, the clock that is used."""
    for into in range(1, _WIDEST + 1):
        detector = oscillator / into
        if not _DETECTOR[0] <= detector <= _DETECTOR[1]:
            continue
        for back in range(1, _WIDEST + 1):
            if not _VCO[0] <= detector * back <= _VCO[1]:
                continue
            for out in range(1, _WIDEST + 1):
                if _OUT[0] <= (hz := detector * back / out) <= _OUT[1]:
                    yield Setting(hz=hz, dividers=(into, back, out))


def _instance(clock: IOPort | Signal, oscillator: float, setting: Setting, made: Signal, locked: Signal) -> Instance:
    into, back, out = setting.dividers
    fed_back = Signal()
    attributes = {"ICP_CURRENT": "12", "LPF_RESISTOR": "8", "MFG_ENABLE_FILTEROPAMP": "1", "MFG_GMCREF_SEL": "2"}
    attributes |= {"FREQUENCY_PIN_CLKI": f"{oscillator / 1e6:g}", "FREQUENCY_PIN_CLKOS": f"{setting.mhz:g}"}
    unused = ("RST", "STDBY", "PHASESEL0", "PHASESEL1", "PHASEDIR", "PHASESTEP", "PHASELOADREG", "PLLWAKESYNC")
    return Instance(
        "EHXPLLL",
        *(("a", name, value) for name, value in attributes.items()),
        *(("i", name, 0) for name in (*unused, "ENCLKOP", "ENCLKOS")),
        p_CLKI_DIV=into,
        p_CLKFB_DIV=1,
        p_CLKOP_DIV=back,
        p_CLKOP_CPHASE=back - 1,
        p_CLKOP_ENABLE="ENABLED",
        p_CLKOS_DIV=out,
        p_CLKOS_CPHASE=out - 1,
        p_CLKOS_ENABLE="ENABLED",
        p_FEEDBK_PATH="CLKOP",
        i_CLKI=clock,
        i_CLKFB=fed_back,
        o_CLKOP=fed_back,
        o_CLKOS=made,
        o_LOCK=locked,
    )


PLL = Pll(settings=_settings, instance=_instance)
"""EHXPLLL."""


def _ulx3s() -> Platform:
    return boards_module("ulx3s").ULX3S_85F_Platform()


def _orangecrab() -> Platform:
    from amaranth.build import Attrs

    platform = boards_module("orangecrab_r0_2").OrangeCrabR0_2_25FPlatform()
    line = boards_module("resources").UARTResource(
        0, rx="0", tx="1", conn=("io", 0), attrs=Attrs(IO_TYPE="LVCMOS33", PULLMODE="UP")
    )
    platform.add_resources([line])
    return platform


def _colorlight(part: str, led: str) -> Platform:
    """A module on its extension board: not among amaranth-boards."""
    from amaranth.build import Attrs, Clock, Pins, Resource
    from amaranth.vendor import LatticeECP5Platform

    resource = boards_module("resources")
    attributes = Attrs(IO_TYPE="LVCMOS33")

    class Colorlight(LatticeECP5Platform):
        device = part
        package = "BG381"
        speed = "6"
        default_clk = "clk25"
        resources = (
            Resource("clk25", 0, Pins("P3", dir="i"), Clock(25e6), attributes),
            *resource.LEDResources(pins=led, invert=True, attrs=attributes),
            resource.UARTResource(0, rx="H18", tx="J17", attrs=attributes),
        )
        connectors = ()

    return Colorlight()


def _place(size: int, package: str, speed: int) -> tuple[str, ...]:
    return (f"--{size}k", "--package", package, "--speed", f"{speed}")


_LOADER = "openFPGALoader --board {board} {file}"

BOARDS = (
    Board(
        name="ulx3s-85f",
        title="Radiona ULX3S, LFE5U-85F",
        platform=_ulx3s,
        hz=25e6,
        target=open_target("ecp5-85k"),
        pll=PLL,
        place=_place(85, "CABGA381", 6),
        asked=200.0,
        uart="US1, the FTDI's USB socket",
        load=_LOADER.replace("{board}", "ulx3s"),
    ),
    Board(
        name="orangecrab",
        title="OrangeCrab r0.2, LFE5U-25F",
        platform=_orangecrab,
        hz=48e6,
        target=open_target("ecp5-25k-8"),
        pll=PLL,
        place=_place(25, "CSFBGA285", 8),
        pack=("--freq", "38.8"),
        led=("rgb_led", "g"),
        asked=200.0,
        uart="pins 0 (RX) and 1 (TX) of the header: its USB socket has no serial port",
        load="dfu-util --alt 0 --download {file}",
    ),
    Board(
        name="colorlight-i5",
        title="Colorlight i5 v7.0 on its extension board, LFE5U-25F",
        platform=lambda: _colorlight("LFE5U-25F", "U16"),
        hz=25e6,
        target=open_target("ecp5-25k"),
        pll=PLL,
        place=_place(25, "CABGA381", 6),
        asked=200.0,
        uart="the extension board's USB socket",
        load=_LOADER.replace("{board}", "colorlight-i5"),
    ),
    Board(
        name="colorlight-i9",
        title="Colorlight i9 v7.2 on its extension board, LFE5U-45F",
        platform=lambda: _colorlight("LFE5U-45F", "L2"),
        hz=25e6,
        target=open_target("ecp5-45k"),
        pll=PLL,
        place=_place(45, "CABGA381", 6),
        asked=200.0,
        uart="the extension board's USB socket",
        load=_LOADER.replace("{board}", "colorlight-i9"),
    ),
)
