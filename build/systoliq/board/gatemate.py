"""Boards with a GateMate: Olimex GateMateA1-EVB."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from amaranth.hdl import Instance, IOPort, Signal

from ..synth.targets import open_target
from .description import Board
from .pll import Pll, Setting
from .resources import boards_module

if TYPE_CHECKING:
    from amaranth.build import Platform

__all__ = ["BOARDS", "PLL"]

# Cologne Chip UG1001, CC_PLL, economy mode: the oscillator inside, its dividers' inputs and the output, in MHz.
_DCO = (1000, 2000)
_DIVIDED = 1250 / 2
_OUT = 1250 / 4
_STEP = Fraction(1, 4)  # MHz: OUT_CLK is a decimal number, and nextpnr takes the nearest that it finds


def _settings(oscillator: float) -> Iterator[Setting]:
    """Clocks that are exact, each with its ratio to the oscillator; nextpnr finds the dividers."""
    reference = Fraction(round(oscillator), 1_000_000)
    for times in range(2, 1024, 2):  # times 2, since PDIV1 is 2
        inside = 2 * reference * times
        if not _DCO[0] < inside <= _DCO[1]:
            continue
        for divided in range(2, 1024, 2):
            mhz = inside / 4 / divided
            if inside / 2 / divided <= _DIVIDED and mhz <= _OUT and mhz % _STEP == 0:
                ratio = mhz / reference
                yield Setting(hz=float(mhz * 1_000_000), dividers=(ratio.numerator, ratio.denominator))


def _instance(clock: IOPort | Signal, oscillator: float, setting: Setting, made: Signal, locked: Signal) -> Instance:
    return Instance(
        "CC_PLL",
        p_REF_CLK=f"{oscillator / 1e6:g}",
        p_OUT_CLK=f"{setting.mhz:g}",
        p_PERF_MD="ECONOMY",
        p_LOCK_REQ=1,
        p_LOW_JITTER=1,
        i_CLK_REF=clock,
        i_CLK_FEEDBACK=0,
        i_USR_CLK_REF=0,
        i_USR_LOCKED_STDY_RST=0,
        o_CLK0=made,
        o_USR_PLL_LOCKED=locked,
    )


PLL = Pll(settings=_settings, instance=_instance)
"""CC_PLL."""


def _olimex() -> Platform:
    """Neither among amaranth-boards, nor a vendor of Amaranth's: Yosys puts in the buffers of pins and clocks.

    Pins: Olimex' GateMateA1-EVB, and litex-boards, olimex_gatemate_a1_evb.
    """
    from amaranth.build import Attrs, Clock, Pins, Resource, TemplatedPlatform

    resource = boards_module("resources")

    class GateMateA1Evb(TemplatedPlatform):
        toolchain = "Peppercorn"
        required_tools = ()
        command_templates = ()
        file_templates = {  # noqa: RUF012  (Amaranth's form)
            **TemplatedPlatform.build_script_templates,
            "{{name}}.il": "{{emit_rtlil()}}",
            "{{name}}.ccf": """
                {% for port, pin, attributes in platform.iter_port_constraints_bits() -%}
                    NET "{{port}}" Loc = "{{pin}}"
                    {%- for key, value in attributes.items() %} | {{key}}={{value}}{% endfor %};
                {% endfor %}
            """,
        }
        default_clk = "clk10"
        resources = (
            Resource("clk10", 0, Pins("IO_SB_A8", dir="i"), Clock(10e6), Attrs(SCHMITT_TRIGGER="true")),
            *resource.LEDResources(pins="IO_SB_B6", invert=True),
            resource.UARTResource(0, rx="IO_SA_A6", tx="IO_SA_B6"),
        )
        connectors = ()

    return GateMateA1Evb()


BOARDS = (
    Board(
        name="gatemate-a1-evb",
        title="Olimex GateMateA1-EVB, CCGM1A1",
        platform=_olimex,
        hz=10e6,
        target=dataclasses.replace(open_target("gatemate-a1"), synth="synth_gatemate -luttree -nomx8"),
        pll=PLL,
        # Economy mode, 1.0 V: what is fast enough then, is so at 1.1 V.
        place=("--device", "CCGM1A1", "--vopt", "fpga_mode=2"),
        asked=60.0,
        uart="its USB socket, the serial port of the RP2040",
        load="openFPGALoader --cable dirtyJtag {file}",
    ),
)
