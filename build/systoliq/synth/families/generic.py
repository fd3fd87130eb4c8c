"""Gates and standard cells: no part."""

from __future__ import annotations

from ..target import StandardCells, Target
from .family import Cells, Family

__all__ = ["ABC_SCRIPT", "GENERIC"]

ABC_SCRIPT = "+strash;&get,-n;&fraig,-x,-C,20000;&put;scorr;dc2;dretime;strash;&get,-n;&dch,-f;&nf{};&put"
"""The commands that Yosys gives ABC for gates, with options of `&nf` for a clock; commas are spaces.

Yosys itself sets no limit on the conflicts in the search for equal signals (`&fraig`). Where memories become
flip-flops, the search then takes minutes to an hour, and finds nothing more. A limit of 10,000 would be too low:
`resnet8-fc` would reach 140 instead of 188 MHz with the cells of osu018.
"""

GENERIC = Family(
    name="generic",
    title="gates",
    targets=(
        Target(
            name="generic",
            family="generic",
            title="gates, or the standard cells of --liberty",
            synth="synth -flatten -noabc",
            mhz=100.0,
        ),
        Target(
            name="cmos4",
            family="generic",
            title="NAND, NOR, AOI and OAI gates of up to 4 inputs",
            synth="synth -flatten -noabc",
            after=(f"abc -g cmos4 -script {ABC_SCRIPT.format('')}", "opt_clean -purge"),
        ),
        Target(
            name="osu018",
            family="generic",
            title="OSU's standard cells for 0.18 um, typical",
            synth="synth -flatten -noabc",
            mhz=300.0,
            library=StandardCells(
                path="/usr/share/qflow/tech/osu018/osu018_stdcells.lib", brings="apt-get install qflow-tech-osu018"
            ),
        ),
    ),
    cells=Cells(registers=("$_DFF", "$_SDFF", "$_DLATCH")),
)
