"""The flow: synthesis, then place and route once for each seed, each kept by content."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from amaranth.lib import wiring

from systoliq.hw.verilog import emit_verilog, files_of
from systoliq.sim.cache import content_key, obtain

from ..errors import SynthesisError
from .energy import check_energy, energies_of, estimate
from .families import FAMILIES
from .families.large_memories import in_large_blocks
from .floorplan import floorplan, memories_near
from .nextpnr import (
    DoesNotFitError,
    NotRoutedError,
    critical_path,
    first_placement,
    max_mhz,
    run_nextpnr,
    site_figures,
    untimed_cells,
)
from .opensta import TIMED, find_sta, slowest_path
from .parts import figures_of_parts
from .report import CriticalPath, SynthReport
from .standard_cells import CELLS, Library, library_of, read_library
from .target import BlockSites, Target
from .targets import open_target
from .tools import Command, find_nextpnr, find_yosys
from .yosys import (
    before_synthesis,
    cell_figures,
    mapped_apart,
    netlist_to_place,
    run_blocks,
    run_yosys,
    synthesis_commands,
    top_of,
)

__all__ = ["Block", "DoesNotFitError", "SynthesisError", "Synthesizable", "check_fit", "synthesize", "synthesized"]

_FORMAT = "10"  # version of the cached content
_RESOURCES = [("lut_sites", "LUTs"), ("ff", "registers"), ("dsp", "DSP blocks"), ("ram", "memory blocks")]


class Synthesizable(Protocol):
    """The properties of a design that synthesis and its report need, as `systoliq.design.Design` has them."""

    @property
    def name(self) -> str:
        """Name of the top module."""

    @property
    def verilog(self) -> str:
        """Verilog with the module `name` as its top."""

    @property
    def cells(self) -> str:
        """Set of cells, for the report."""

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates per cycle, for the report."""

    @property
    def part_of(self) -> Callable[[str], str] | None:
        """Callable that returns the part in which the cell of a name lies, for the report's `parts`; None if there is
        one part.
        """


@dataclass(frozen=True, kw_only=True)
class Block:
    """A component that is no `Design`, such as a single block, as a `Synthesizable`."""

    component: wiring.Component
    name: str
    cells: str = "portable"
    macs_per_cycle: int = 1
    part_of: None = None

    @functools.cached_property
    def verilog(self) -> str:
        """The component's Verilog."""
        return emit_verilog(self.component, self.name)


def synthesize(
    design: Synthesizable,
    target: str | Target,
    *,
    seeds: Sequence[int] = (1, 2, 3),
    mhz: float | None = None,
    liberty: Path | None = None,
    breakdown: bool = True,
    energy: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> SynthReport:
    """Synthesize `design`, and place and route it where that is possible.

    Parameters
    ----------
    seeds
        for nextpnr's placer; each is a separate run. One that is given up is in the report's `not_routed`.
    mhz
        the frequency to request from nextpnr, or from the mapping to standard cells (default: the target's).
    liberty
        a Liberty file with the cells to use; for the target `generic` only.
    breakdown
        False leaves out the figures of parts, and of standard cells the counts by module, which take about the same
        time again.
    energy
        operands of a `Design`, as its `simulate` takes them, whose energy to estimate; for standard cells.
    progress
        called with the name of each stage that takes time.

    Raises
    ------
    DoesNotFitError
        if the part has too few resources of a kind.
    NotRoutedError
        if no seed was routed in time.
    InputError
        if the target, its library or the design has no energy.
    """
    target = open_target(target) if isinstance(target, str) else target
    if energy is not None:
        check_energy(target, liberty)
    file = library_of(target, liberty)
    library = None if file is None else read_library(file, find_yosys())
    energies = energies_of(library) if energy is not None and library is not None else None
    asked = target.mhz if mhz is None else mhz
    say = progress or (lambda stage: None)
    started = time.monotonic()
    verilog, name = design.verilog, design.name
    folder = synthesized(verilog, name, target, library=library, mhz=asked, progress=say)
    figures = cell_figures(folder)
    placement = _Placement(mhz=asked if target.place or library else 0.0)
    if library is not None and library.timed:
        placement = _timed(folder, name, asked, say)
    if target.place:
        check_fit(figures, target)
        placement = _place(folder, figures["pins"], target, seeds, asked, say)
        figures |= site_figures(placement.reports[0], target.family)
    modules = _blocks(verilog, name, target, library, asked, say) if library is not None and breakdown else {}
    report = _report(figures, target, placement, design)
    parts = figures_of_parts(folder, design.part_of) if breakdown and design.part_of else {}
    if energy is not None and energies is not None:
        report = dataclasses.replace(report, energy=estimate(design, folder, energies, energy, say))
    return dataclasses.replace(report, parts=parts, blocks=modules, seconds=round(time.monotonic() - started, 1))


def synthesized(
    verilog: str,
    name: str,
    target: Target,
    *,
    library: Library | None = None,
    mhz: float = 0.0,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """The folder with the netlist of `verilog` (netlist.json, netlist.v, cells.json), made or taken from the cache.

    `mhz` is the clock that the standard cells of a `library` are sized for.
    """
    yosys = find_yosys()
    if progress:
        progress("synthesis")
    verilog = in_large_blocks(verilog, FAMILIES[target.family])
    apart = mapped_apart(verilog, name, target)
    commands = " ".join(
        [*before_synthesis(target), *synthesis_commands(target, target.synth, name), *target.after, *apart]
    )
    cells = b"" if library is None else library.content + f"{mhz}".encode()
    memories = [part for file in sorted(files_of(verilog).items()) for part in file]
    key = content_key(_FORMAT, verilog, name, commands, cells, yosys.version, *memories)

    def make(building: Path) -> None:
        run_yosys(yosys, verilog, name, target, building, library=library, mhz=mhz)

    folder, _ = obtain("synth", key, make)
    return folder


@dataclass(frozen=True, kw_only=True)
class _Placement:
    """Results of place and route: a report of nextpnr for each of the `seeds` that were routed; empty if nothing was
    placed.
    """

    mhz: float
    open_ports: int = 0
    tools: tuple[str, ...] = ()
    floorplan: Mapping[str, str] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    reports: tuple[dict[str, Any], ...] = ()
    not_routed: Mapping[int, str] = field(default_factory=dict)
    path: CriticalPath | None = None

    @property
    def speeds(self) -> tuple[float, ...]:
        """MHz of each seed; of standard cells, the one."""
        if self.path is not None:
            return (round(1000 / self.path.nanoseconds, 1),)
        return tuple(round(max_mhz(report), 1) for report in self.reports)

    @property
    def typical(self) -> dict[str, Any] | None:
        """The report of the seed whose speed is in the middle."""
        speeds = self.speeds
        return self.reports[speeds.index(sorted(speeds)[len(speeds) // 2])] if self.reports else None


def _report(
    figures: dict[str, float],
    target: Target,
    placement: _Placement,
    design: Synthesizable,
) -> SynthReport:
    """The report, without its seconds, from the figures of the netlist and what place and route found."""
    reports, typical = placement.reports, placement.typical
    return SynthReport(
        name=design.name,
        target=target.name,
        cells=design.cells,
        macs_per_cycle=design.macs_per_cycle,
        lut_sites=int(figures["lut_sites"]),
        ff=int(figures["ff"]),
        dsp=int(figures["dsp"]),
        ram=int(figures["ram"]),
        carries=int(figures["carries"]),
        seeds=placement.seeds,
        not_routed=dict(placement.not_routed),
        fmax_mhz_per_seed=placement.speeds,
        target_mhz=placement.mhz,
        open_ports=placement.open_ports,
        floorplan=dict(placement.floorplan),
        untimed=untimed_cells(reports[0], target.family) if reports else (),
        critical_path=placement.path or (critical_path(typical) if typical else None),
        area=figures.get("area"),
        gates=int(figures["cells"]) if target.family == "generic" else None,
        tools=(find_yosys().version, *placement.tools),
    )


def _blocks(
    verilog: str, name: str, target: Target, library: Library, mhz: float, say: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    """The modules of the design, each mapped to the cells of the library by itself."""
    say("blocks")
    yosys = find_yosys()
    memories = [part for file in sorted(files_of(verilog).items()) for part in file]
    key = content_key(_FORMAT, verilog, name, target.synth, library.content, f"{mhz}", yosys.version, *memories)

    def make(building: Path) -> None:
        found = run_blocks(yosys, verilog, name, target, building, library=library, mhz=mhz)
        (building / "blocks.json").write_text(json.dumps(found))

    folder, _ = obtain("blocks", key, make)
    found: dict[str, dict[str, float]] = json.loads((folder / "blocks.json").read_text())
    return found


def _timed(folder: Path, name: str, mhz: float, say: Callable[[str], None]) -> _Placement:
    """OpenSTA's results for a netlist of standard cells; empty if OpenSTA is not installed."""
    sta = find_sta()
    if sta is None:
        return _Placement(mhz=mhz)
    say("timing")
    key = content_key(_FORMAT, name, (folder / TIMED).read_bytes(), (folder / CELLS).read_bytes(), sta.version)

    def time_it(building: Path) -> None:
        for file in (TIMED, CELLS):
            (building / file).write_bytes((folder / file).read_bytes())
        path = slowest_path(sta, name, building)
        (building / "path.json").write_text(json.dumps(dataclasses.asdict(path)))

    timed, _ = obtain("timing", key, time_it)
    found = json.loads((timed / "path.json").read_text())
    return _Placement(mhz=mhz, tools=(sta.version,), path=CriticalPath(**found | {"blocks": ()}))


def _memory_sites(
    netlist: bytes, memories: Sequence[str], sites: BlockSites, nextpnr: Command, target: Target, mhz: float
) -> dict[str, str]:
    """The `sites` near the cells that memory blocks are connected to, by a first placement of the `netlist`."""

    def place(building: Path) -> None:
        (building / "netlist.json").write_bytes(netlist)
        near = memories_near(first_placement(nextpnr, target, mhz, building), memories, sites)
        for file in building.iterdir():
            file.unlink()
        (building / "memories.json").write_text(json.dumps(near))

    key = content_key(_FORMAT, "memories", netlist, " ".join(target.placed), f"{mhz}", nextpnr.version)
    placed, _ = obtain("place", key, place)
    found: dict[str, str] = json.loads((placed / "memories.json").read_text())
    return found


def _place(
    folder: Path, pins: float, target: Target, seeds: Sequence[int], mhz: float, say: Callable[[str], None]
) -> _Placement:
    """Place and route the netlist in `folder` once for each seed, without ports where it has more than the part."""
    open_ports = int(pins) if pins > target.capacity.get("pins", math.inf) else 0
    nextpnr = find_nextpnr(target.family)
    cells = top_of(folder)["cells"]
    multipliers, memories = (
        [name for name, cell in cells.items() if cell["type"] == kind] for kind in ("MULT18X18D", "DP16KD")
    )

    def netlist_with(plan: Mapping[str, str]) -> bytes:
        return netlist_to_place(
            folder,
            without_ports=open_ports > 0 or target.without_ports or bool(target.clock_pin),
            sites=plan,
            clock_pad=bool(target.clock_pin),
            clock=not target.without_ports,
        )

    plan = floorplan(multipliers, memories, target.block_sites)
    netlist = netlist_with(plan)
    if plan and memories and target.block_sites and plan.keys().isdisjoint(memories):
        say("first placement, for the sites of the memory blocks")
        plan |= _memory_sites(netlist, memories, target.block_sites, nextpnr, target, mhz)
        netlist = netlist_with(plan)
    reports: dict[int, dict[str, Any]] = {}
    not_routed: dict[int, str] = {}
    for seed in seeds:
        say(f"place and route, seed {seed}")
        key = content_key(_FORMAT, netlist, " ".join(target.placed), f"{mhz}", str(seed), nextpnr.version)

        def place(building: Path, seed: int = seed) -> None:
            (building / "netlist.json").write_bytes(netlist)
            run_nextpnr(nextpnr, target, mhz, seed, building)
            (building / "netlist.json").unlink()  # it is kept once, with the synthesis

        try:
            placed, _ = obtain("place", key, place)
        except NotRoutedError as error:
            not_routed[seed] = str(error)
        else:
            reports[seed] = json.loads((placed / f"report_{seed}.json").read_text())
    if not reports and not_routed:
        raise NotRoutedError(_unrouted(target, not_routed))
    return _Placement(
        mhz=mhz,
        open_ports=open_ports,
        tools=(nextpnr.version,),
        floorplan=plan,
        seeds=tuple(reports),
        reports=tuple(reports.values()),
        not_routed=not_routed,
    )


def _unrouted(target: Target, not_routed: Mapping[int, str]) -> str:
    """The error of a design that no seed routed in time."""
    seeds = "; ".join(f"seed {seed}: {reason}" for seed, reason in not_routed.items())
    return (
        f"{target.title}: no seed was placed and routed in time ({seeds}): a smaller design leaves more room for "
        "wires, more --seeds try other placements, and more --minutes wait longer"
    )


def check_fit(figures: dict[str, float], target: Target) -> None:
    """Refuse what cannot fit before nextpnr tries: LUTs before placement are fewer than sites after it."""
    short = [
        f"{int(figures[key])} {title} where there are {room}"
        for key, title in _RESOURCES
        if (room := target.capacity.get(key)) is not None and figures[key] > room
    ]
    if short:
        raise DoesNotFitError(f"the design does not fit {target.title}: it needs {', and '.join(short)}")
