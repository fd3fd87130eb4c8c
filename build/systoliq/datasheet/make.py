"""Datasheet of a package, from the files in its directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from systoliq.sim.process import SimulationError
from systoliq.sim.tools import ToolError

from ..design.from_package import described_design
from ..errors import InputError
from ..package.forms.block import Block
from ..signoff.files import PackageFiles, package_files
from ..synth.report import SynthReport
from ..synth.targets import open_target
from .diagram import timing_diagram
from .document import Datasheet, datasheet_html
from .latency import latency_start, stated_latency
from .trace import Trace, traced

__all__ = ["make_datasheet"]


def make_datasheet(
    directory: Path,
    targets: Sequence[str] = (),
    *,
    seconds: float = 300,
    detail: Callable[[str], None] = lambda _: None,
) -> str:
    """Return the datasheet of the package in `directory` as HTML, with the resources on each of `targets`.

    Raises
    ------
    InputError
        if `directory` is no package, if its Verilog does not have the latency that the sidecar states, or if the
        resources of its kind cannot be measured.
    """
    files = package_files(directory)
    reports = _reports(files, targets, detail)
    detail("Icarus: the first results of the testbench")
    trace, untraced = _trace(files, seconds)
    diagram, latency = "", None
    if trace is not None:
        start = latency_start(files.sidecar, trace)
        latency, stated = trace.first_result - start, stated_latency(files.sidecar)
        if stated is not None and latency != stated:
            raise InputError(
                f"{directory}: {files.name}.json must state the latency of {files.verilog.name}, {latency} cycles, not "
                f"{stated}: write the package again with systoliq emit"
            )
        diagram = timing_diagram(trace, start)
    return datasheet_html(
        Datasheet(
            block=Block(files.sidecar), trace=trace, diagram=diagram, untraced=untraced, latency=latency,
            reports=reports,
        )
    )  # fmt: skip


def _trace(files: PackageFiles, seconds: float) -> tuple[Trace | None, str]:
    """The trace, or the reason why there is none."""
    try:
        return traced(files, seconds), ""
    except (ToolError, SimulationError, ValueError) as error:
        return None, str(error)


def _reports(files: PackageFiles, targets: Sequence[str], detail: Callable[[str], None]) -> tuple[SynthReport, ...]:
    parts = [open_target(target) for target in targets]
    if parts and "hardware" not in files.sidecar:
        raise InputError(
            f"--target must be used with the package of a layer or a network, not of an {files.sidecar['kind']}: "
            "systoliq synth measures it"
        )
    if not parts:
        return ()
    design, found = described_design(files.directory, files.sidecar), []
    for part in parts:
        detail(f"place and route for {part.title}")
        found.append(design.synthesize(part.name, progress=detail))
    return tuple(found)
