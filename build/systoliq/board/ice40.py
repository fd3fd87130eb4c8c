"""Boards with an iCE40: iCEBreaker."""

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

# Lattice FPGA-DS-02008, iCE40 UltraPlus family, sysCLOCK PLL timing: detector, VCO, output, in Hz.
_DETECTOR = (10e6, 133e6)
_VCO = (533e6, 1066e6)
_OUT = (16e6, 275e6)
# FPGA-TN-02052: the filter for a detector frequency below each limit in MHz.
_FILTERS = ((17, 1), (26, 2), (44, 3), (66, 4), (101, 5), (134, 6))


def _settings(oscillator: float) -> Iterator[Setting]:
    """DIVR and DIVF, each one less than its divider, and DIVQ, a power of two."""
    for into in range(16):
        detector = oscillator / (into + 1)
        if not _DETECTOR[0] <= detector <= _DETECTOR[1]:
            continue
        for back in range(128):
            vco = detector * (back + 1)
            if not _VCO[0] <= vco <= _VCO[1]:
                continue
            for out in range(1, 7):
                if _OUT[0] <= vco / 2**out <= _OUT[1]:
                    yield Setting(hz=vco / 2**out, dividers=(into, back, out))


def _instance(clock: IOPort | Signal, oscillator: float, setting: Setting, made: Signal, locked: Signal) -> Instance:
    into, back, out = setting.dividers
    detector = oscillator / (into + 1) / 1e6
    return Instance(
        "SB_PLL40_PAD",
        p_FEEDBACK_PATH="SIMPLE",
        p_DIVR=into,
        p_DIVF=back,
        p_DIVQ=out,
        p_FILTER_RANGE=next(value for below, value in _FILTERS if detector < below),
        i_PACKAGEPIN=clock,
        i_RESETB=1,
        i_BYPASS=0,
        o_PLLOUTGLOBAL=made,
        o_LOCK=locked,
    )


PLL = Pll(settings=_settings, instance=_instance, pad=True)
"""SB_PLL40_PAD, whose input is the oscillator's pin."""


def _icebreaker() -> Platform:
    return boards_module("icebreaker").ICEBreakerPlatform()


BOARDS = (
    Board(
        name="icebreaker",
        title="1BitSquared iCEBreaker, iCE40UP5K",
        platform=_icebreaker,
        hz=12e6,
        target=open_target("ice40-up5k"),
        pll=PLL,
        place=("--up5k", "--package", "sg48"),
        asked=48.0,
        uart="its USB socket, the second of the FTDI's ports",
        load="openFPGALoader --board icebreaker {file}",
    ),
)
