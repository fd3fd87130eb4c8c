"""Boards with a Lattice Nexus: CrossLink-NX Evaluation Board."""

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

__all__ = ["BOARDS"]


def _settings(oscillator: float) -> Iterator[Setting]:
    """No settings: Lattice FPGA-DS-02049, sysCLOCK PLL timing, wants 18 MHz or more at the PLL's input."""
    yield from ()


def _instance(clock: IOPort | Signal, oscillator: float, setting: Setting, made: Signal, locked: Signal) -> Instance:
    raise NotImplementedError("no oscillator of a board with a Nexus is fast enough for its PLL")


def _evaluation_board() -> Platform:
    """Not among amaranth-boards. Pins: Lattice FPGA-EB-02028, and litex-boards, lattice_crosslink_nx_evn."""
    from amaranth.build import Attrs, Clock, Pins, Resource
    from amaranth.vendor import LatticePlatform

    resource = boards_module("resources")
    attributes = Attrs(IO_TYPE="LVCMOS33")

    class CrossLinkNxEvaluationBoard(LatticePlatform):
        device = "LIFCL-40"
        speed = "9"
        package = "BG400"
        grade = "C"
        default_clk = "clk12"
        resources = (
            Resource("clk12", 0, Pins("L13", dir="i"), Clock(12e6), attributes),
            *resource.LEDResources(pins="E17", invert=True, attrs=attributes),
            resource.UARTResource(0, rx="F16", tx="F18", attrs=Attrs(IO_TYPE="LVCMOS33", PULLMODE="UP")),
        )
        connectors = ()

    return CrossLinkNxEvaluationBoard(toolchain="Oxide")


BOARDS = (
    Board(
        name="crosslink-nx-evn",
        title="Lattice CrossLink-NX Evaluation Board, LIFCL-40",
        platform=_evaluation_board,
        hz=12e6,
        target=open_target("nexus-40k"),
        pll=Pll(settings=_settings, instance=_instance),
        # The router that is the default finds no way from the oscillator's pin to the clock's buffer (nextpnr#1317).
        place=("--device", "LIFCL-40-9BG400C", "--router", "router1"),
        asked=12.0,
        uart="port B of its FTDI, with R15 and R17 fitted, R18 and R19 removed",
        load="openFPGALoader --board crosslinknx_evn {file}",
    ),
)
