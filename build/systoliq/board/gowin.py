"""Boards with a Gowin: Tang Nano 9K and 20K."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from amaranth.hdl import Const, Instance, IOPort, Signal

from ..synth.targets import open_target
from .description import Board
from .pll import Pll, Setting
from .resources import boards_module

if TYPE_CHECKING:
    from amaranth.build import Platform

__all__ = ["BOARDS", "pll"]

_OUTS = (2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128)  # Gowin UG286, rPLL: ODIV_SEL
_WIDEST = 64
_DETECTOR = 3e6


def pll(device: str, vco: tuple[float, float]) -> Pll:
    """RPLL of a `device`, whose VCO runs within `vco`, in Hz: Gowin DS117 and DS226, PLL switching characteristics."""
    return Pll(settings=partial(_settings, vco=vco), instance=partial(_instance, device))


def _settings(oscillator: float, *, vco: tuple[float, float]) -> Iterator[Setting]:
    """IDIV_SEL and FBDIV_SEL, each one less than its divider, and ODIV_SEL."""
    for into in range(_WIDEST):
        if oscillator / (into + 1) < _DETECTOR:
            break
        for back in range(_WIDEST):
            hz = oscillator / (into + 1) * (back + 1)
            for out in _OUTS:
                if vco[0] <= hz * out <= vco[1]:
                    yield Setting(hz=hz, dividers=(into, back, out))


def _instance(
    device: str, clock: IOPort | Signal, oscillator: float, setting: Setting, made: Signal, locked: Signal
) -> Instance:
    into, back, out = setting.dividers
    off = dict.fromkeys(("DYN_IDIV_SEL", "DYN_FBDIV_SEL", "DYN_ODIV_SEL", "DYN_DA_EN"), "false")
    off |= dict.fromkeys(("CLKOUT_BYPASS", "CLKOUTP_BYPASS", "CLKOUTD_BYPASS"), "false")
    zero = {
        "RESET": 1,
        "RESET_P": 1,
        "CLKFB": 1,
        "FBDSEL": 6,
        "IDSEL": 6,
        "ODSEL": 6,
        "PSDA": 4,
        "DUTYDA": 4,
        "FDLY": 4,
    }
    return Instance(
        "rPLL",
        *(("p", name, value) for name, value in off.items()),
        *(("i", name, Const(0, bits)) for name, bits in zero.items()),
        p_DEVICE=device,
        p_FCLKIN=f"{oscillator / 1e6:g}",
        p_IDIV_SEL=into,
        p_FBDIV_SEL=back,
        p_ODIV_SEL=out,
        p_CLKFB_SEL="internal",
        p_PSDA_SEL="0000",
        p_DUTYDA_SEL="1000",
        i_CLKIN=clock,
        o_CLKOUT=made,
        o_LOCK=locked,
    )


def _tang_nano_9k() -> Platform:
    return boards_module("tang_nano_9k").TangNano9kPlatform()


def _tang_nano_20k() -> Platform:
    """Not among amaranth-boards."""
    from amaranth.build import Attrs, Clock, Pins, Resource
    from amaranth.vendor import GowinPlatform

    resource = boards_module("resources")
    attributes = Attrs(IO_TYPE="LVCMOS33")

    class TangNano20k(GowinPlatform):
        part = "GW2AR-LV18QN88C8/I7"
        family = "GW2AR-18C"
        default_clk = "clk27"
        resources = (
            Resource("clk27", 0, Pins("4", dir="i"), Clock(27e6), attributes),
            *resource.LEDResources(pins="15 16 17 18 19 20", invert=True, attrs=attributes),
            resource.UARTResource(0, rx="70", tx="69", attrs=Attrs(IO_TYPE="LVCMOS33", PULL_MODE="UP")),
        )
        connectors = ()

    return TangNano20k()


def _place(device: str, family: str) -> tuple[str, ...]:
    return ("--device", device, "--vopt", f"family={family}")


_LOADER = "openFPGALoader --board {board} {file}"

BOARDS = (
    Board(
        name="tang-nano-9k",
        title="Sipeed Tang Nano 9K, GW1NR-9C",
        platform=_tang_nano_9k,
        hz=27e6,
        target=open_target("gowin-gw1nr9"),
        pll=pll("GW1NR-9C", (400e6, 1200e6)),
        place=_place("GW1NR-LV9QN88PC6/I5", "GW1N-9C"),
        pack=("-d", "GW1N-9C", "--sspi_as_gpio", "--mspi_as_gpio"),
        asked=100.0,
        uart="its USB socket, the second of the two ports",
        load=_LOADER.replace("{board}", "tangnano9k"),
    ),
    Board(
        name="tang-nano-20k",
        title="Sipeed Tang Nano 20K, GW2AR-18C",
        platform=_tang_nano_20k,
        hz=27e6,
        target=open_target("gowin-gw2a18"),
        pll=pll("GW2AR-18C", (500e6, 1250e6)),
        place=_place("GW2AR-LV18QN88C8/I7", "GW2A-18C"),
        pack=("-d", "GW2A-18C", "--sspi_as_gpio", "--mspi_as_gpio"),
        asked=150.0,
        uart="its USB socket, the second of the two ports",
        load=_LOADER.replace("{board}", "tangnano20k"),
    ),
)
