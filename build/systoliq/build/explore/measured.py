"""The real synthesizer: `systoliq.build.synth`, Yosys and nextpnr."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ..design import LayerDesign
from ..errors import InputError
from ..synth import DoesNotFitError, SynthReport, Target, open_target
from ..synth.flow import synthesized
from ..synth.tools import FAMILIES, find_nextpnr, find_yosys
from .blocks import luts_by_block

__all__ = ["MeasuredSynthesizer"]

_KEPT = ("lut_sites", "ff", "dsp", "ram")


@dataclass(frozen=True)
class MeasuredSynthesizer:
    """Area from Yosys; frequency, and area again, from nextpnr, for the module that `systoliq emit` writes."""

    def identity(self) -> str:
        """Versions of Yosys and nextpnr."""
        return ", ".join([find_yosys().version, *(find_nextpnr(family).version for family in FAMILIES)])

    def area(self, design: LayerDesign, target: str) -> dict[str, Any]:
        """Cells after synthesis; an InputError where the device has too few of some."""
        device = open_target(target)
        report = self._synthesize(design, dataclasses.replace(device, place=()), ())
        _check_fit(report, device)
        folder = synthesized(design.verilog, design.name, device)
        return {**_figures(report), "blocks": luts_by_block(folder / "netlist.json", design.name)}

    def frequency(self, design: LayerDesign, target: str, seeds: int) -> dict[str, Any]:
        """Sites and frequency after place and route; an InputError where the tool's frequency leaves cells out."""
        report = self._synthesize(design, open_target(target), range(1, seeds + 1))
        if report.untimed:
            raise InputError(f"cells must be timed by nextpnr to be compared by MHz, which {report.untimed[0]} is not")
        speeds = list(report.fmax_mhz_per_seed)
        path = None if report.critical_path is None else str(report.critical_path)
        return {**_figures(report), "fmax_mhz": report.fmax_mhz, "fmax_mhz_per_seed": speeds, "critical_path": path}

    def _synthesize(self, design: LayerDesign, target: Target, seeds: Any) -> SynthReport:
        try:
            return design.synthesize(target, seeds=tuple(seeds))
        except DoesNotFitError as error:
            raise InputError(str(error)) from error


def _figures(report: SynthReport) -> dict[str, int]:
    return {name: int(getattr(report, name)) for name in _KEPT}


def _check_fit(report: SynthReport, device: Target) -> None:
    for name, found in _figures(report).items():
        room = device.capacity.get(name)
        if room is not None and found > room:
            raise InputError(f"{name} must be at most {room} on {device.name}, not {found}")
