"""Gates and standard cells: no part."""

from __future__ import annotations

from ..target import StandardCells, Target
from .family import Cells, Family

__all__ = ["GENERIC"]

GENERIC = Family(
    name="generic",
    title="gates",
    targets=(
        Target(
            name="generic",
            family="generic",
            title="gates, or the standard cells of --liberty",
            synth="synth -flatten",
            mhz=100.0,
        ),
        Target(
            name="cmos4",
            family="generic",
            title="NAND, NOR, AOI and OAI gates of up to 4 inputs",
            synth="synth -flatten",
            after=("abc -g cmos4", "opt_clean -purge"),
        ),
        Target(
            name="osu018",
            family="generic",
            title="OSU's standard cells for 0.18 um, typical",
            synth="synth -flatten",
            mhz=300.0,
            library=StandardCells(
                path="/usr/share/qflow/tech/osu018/osu018_stdcells.lib", brings="apt-get install qflow-tech-osu018"
            ),
        ),
    ),
    cells=Cells(registers=("$_DFF", "$_SDFF", "$_DLATCH")),
)
