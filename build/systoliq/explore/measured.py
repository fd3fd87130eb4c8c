"""The real synthesizer: `systoliq.synth`, Yosys with nextpnr, or with OpenSTA for standard cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systoliq.sim.cache import content_key, obtain

from ..design import Design
from ..errors import InputError, MissingPackageError
from ..files import read_input
from ..synth import DoesNotFitError, SynthReport, Target, open_target, synthesize
from ..synth.flow import synthesized
from ..synth.opensta import BRINGS, find_sta
from ..synth.standard_cells import library_of, read_library
from ..synth.tools import find_yosys, placer_versions
from .blocks import luts_by_block

__all__ = ["MeasuredSynthesizer", "measured_synthesizer"]

_KEPT = ("lut_sites", "ff", "dsp", "ram")
_GATES = "generic"  # the family of targets that are no parts


@dataclass(frozen=True)
class MeasuredSynthesizer:
    """Area from Yosys; frequency, and area again, from nextpnr, for the module that `systoliq emit` writes.

    For standard cells, the area is the library's (for the target `generic`, the Liberty text `liberty`), and the
    frequency is OpenSTA's, before layout, with gates sized for `mhz` (default: the target's). `libraries` identifies
    the contents of the libraries.
    """

    liberty: bytes | None = None
    libraries: tuple[str, ...] = ()
    mhz: float | None = None

    def identity(self) -> str:
        """Versions of the tools; with standard cells OpenSTA's, and their libraries' contents."""
        tools = [find_yosys().version, *placer_versions()]
        sta = find_sta() if self.libraries else None
        asked = [] if self.mhz is None else [f"gates sized for {self.mhz:g} MHz"]
        return ", ".join([*tools, *([sta.version] if sta else []), *self.libraries, *asked])

    def area(self, design: Design, target: str) -> dict[str, Any]:
        """Cells after synthesis; an InputError where the device has too few of some."""
        device = open_target(target)
        report = self._synthesize(design, dataclasses.replace(device, place=()), ())
        if device.family == _GATES:
            return _gates(report)
        _check_fit(report, device)
        folder = synthesized(design.verilog, design.name, device)
        return {**_figures(report), "blocks": luts_by_block(folder / "netlist.json", design.name)}

    def frequency(self, design: Design, target: str, seeds: int) -> dict[str, Any]:
        """Sites and frequency after place and route; an InputError where the tool's frequency leaves cells out.

        For standard cells, there is one frequency, independent of the seeds.
        """
        device = open_target(target)
        report = self._synthesize(design, device, range(1, seeds + 1))
        if report.untimed:
            raise InputError(f"cells must be timed by nextpnr to be compared by MHz, which {report.untimed[0]} is not")
        speeds = list(report.fmax_mhz_per_seed)
        path = None if report.critical_path is None else str(report.critical_path)
        area = _gates(report) if device.family == _GATES else _figures(report)
        return {**area, "fmax_mhz": report.fmax_mhz, "fmax_mhz_per_seed": speeds, "critical_path": path}

    def _synthesize(self, design: Design, target: Target, seeds: Sequence[int]) -> SynthReport:
        try:
            liberty = self._file(target)
            return synthesize(design, target, seeds=tuple(seeds), mhz=self.mhz, liberty=liberty, breakdown=False)
        except DoesNotFitError as error:
            raise InputError(str(error)) from error

    def _file(self, target: Target) -> Path | None:
        """The Liberty text as a file on this machine."""
        text = self.liberty
        if text is None or target.library is not None or target.family != _GATES:
            return None
        folder, _ = obtain("liberty", content_key(text), lambda building: _write(building, text))
        return folder / "cells.lib"


def measured_synthesizer(
    targets: Sequence[str], *, timed: bool, liberty: Path | None, mhz: float | None = None
) -> MeasuredSynthesizer:
    """The synthesizer for these targets; before any work an InputError, or a MissingPackageError, where one of them has
    no cells, or, if `timed`, no frequency.
    """
    libraries = []
    for target in map(open_target, targets):
        if target.family != _GATES:
            continue
        path = library_of(target, liberty)
        if path is None:
            if timed:
                raise InputError(f"place cannot be used with {target.name}: gates have no delays, a --liberty has")
            continue
        library = read_library(path, find_yosys())
        libraries.append(f"{path.name} {content_key(library.content)[:8]}")
        if timed and not library.timed:
            raise InputError(f"{path}: must have delays for a frequency; without --place there is area alone")
        if timed and find_sta() is None:
            raise MissingPackageError(f"OpenSTA is not there, and the frequency of standard cells needs it: {BRINGS}")
    return MeasuredSynthesizer(None if liberty is None else read_input(liberty), tuple(libraries), mhz)


def _write(folder: Path, liberty: bytes) -> None:
    (folder / "cells.lib").write_bytes(liberty)


def _gates(report: SynthReport) -> dict[str, Any]:
    return {"cell_area": report.area, "gates": report.gates, "ff": report.ff}


def _figures(report: SynthReport) -> dict[str, int]:
    return {name: int(getattr(report, name)) for name in _KEPT}


def _check_fit(report: SynthReport, device: Target) -> None:
    for name, found in _figures(report).items():
        room = device.capacity.get(name)
        if room is not None and found > room:
            raise InputError(f"{name} must be at most {room} on {device.name}, not {found}")
