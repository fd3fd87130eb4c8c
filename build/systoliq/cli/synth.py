"""The command `systoliq synth`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..design import Design, open_source
from ..files import check_file, json_bytes, write_file
from ..progress import Stages
from ..synth.advice import clock_verdict
from ..synth.energy import Energy, check_energy
from ..synth.equivalence import Equivalence, check_comparable, netlist_equivalence
from ..synth.floorplan import floorplan_line, floorplan_script
from ..synth.opensta import BRINGS
from ..synth.report import SynthReport
from ..synth.target import Target
from ..synth.targets import TARGETS, open_target
from .expected_time import tell_expected_time
from .options import (
    BUS_OPTION,
    CELLS_OPTION,
    ENGINE_OPTIONS,
    HARDWARE_OPTIONS,
    NETWORK_OPTIONS,
    SOURCE_HELP,
    SOURCE_OPTIONS,
    PositiveNumber,
    TargetName,
    add_options,
    hardware_of,
)  # fmt: skip
from .plan_table import show_plan
from .shell import debug_option
from .shown import shown

__all__ = ["synth"]

_WIDTH = 160  # of the table in a file or a pipe

_TARGETS = "\n".join(f"  {target.name:<14}{target.title}" for target in TARGETS.values() if target.name[-2:-1] != "-")

_HELP = f"""Synthesize SOURCE, place and route it, and report cells, frequency and critical path.

\b
Targets (ecp5 also with -7 and -8 for the faster speed grades)
{_TARGETS}

Without size options, a layer has as many columns as fit, at most 16, and a network is the smallest that computes 1000
images per second, or the fastest that fits. Results are cached: the same design is not placed twice. Exit status is 1
if the median of the seeds misses --mhz, if a seed is not routed and there is --mhz, or if --equivalence is not proven.
Needs: pip install 'systoliq[synth]'.
"""

_SPREAD = 14
"""Percent that the fastest of three seeds was above the slowest, at most: docs/measurements/networks.md."""

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--target", type=TargetName(), required=True, metavar="T", help="The part, or a board; see above."),
    click.option(
        "--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Place and route with seeds 1 to N."
    ),
    click.option(
        "--minutes",
        type=click.FloatRange(min=0, min_open=True),
        default=Target.minutes,
        show_default=True,
        metavar="N",
        help="Give up a seed after N minutes of place and route, and a proof of --equivalence.",
    ),
    click.option("--mhz", type=PositiveNumber("F"), help="Required frequency.  [the target's]"),
    click.option(
        "--liberty",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Standard-cell library, for the target generic.",
    ),
    click.option(
        "--energy",
        type=click.Path(path_type=Path),
        metavar="A.npz",
        help="Estimate the energy of the inferences of this input (as for simulate), in standard cells.",
    ),
    click.option(
        "--equivalence",
        is_flag=True,
        help="Also prove that the netlist is equal to the Verilog, on parts that nextpnr places.",
    ),
    click.option("--report", type=click.Path(path_type=Path), metavar="R.json", help="File for all figures."),
    click.option(
        "--floorplan",
        type=click.Path(path_type=Path),
        metavar="F.ys",
        help="File for the sites of multipliers and memory blocks as Yosys commands, if there is a floorplan.",
    ),
)


_EXAMPLES = """

\b
Examples
  systoliq synth resnet8-fc --target ecp5-85k --depth 4
  systoliq synth resnet8-fc --target ice40-up5k --seeds 1 --equivalence
  systoliq synth engine --target ice40-up5k --seeds 1 --report report.json
  systoliq synth layer.npz --target osu018 --mhz 100
  systoliq synth layer.npz --target generic --liberty process.lib
  systoliq synth resnet8-fc --target osu018 --cols 1 --energy a.npz
"""


@click.command(help=_HELP + "\n" + SOURCE_HELP + _EXAMPLES)
@click.argument("source")
@add_options(
    *_OPTIONS,
    *HARDWARE_OPTIONS,
    CELLS_OPTION,
    *ENGINE_OPTIONS,
    BUS_OPTION,
    *NETWORK_OPTIONS,
    *SOURCE_OPTIONS,
    debug_option,
)
def synth(
    source: str, weights: Path | None, no_bias: bool, name: str | None, target: str, seeds: int, minutes: float,
    mhz: float | None, liberty: Path | None, energy: Path | None, report: Path | None, floorplan: Path | None,
    equivalence: bool, **hardware: Any,
) -> None:  # fmt: skip
    """See `help`."""
    check_file("report", report)
    check_file("floorplan", floorplan)
    device = dataclasses.replace(open_target(target), minutes=minutes)
    if energy is not None:
        check_energy(device, liberty)
    if equivalence:
        check_comparable(device)
    asked = hardware_of(hardware, device)
    design = open_source(source, asked, weights=weights, use_bias=not no_bias, name=name)
    operands = None if energy is None else design.read_operands(energy)
    if operands is not None:
        design.inferences(operands)  # refuses before synthesis what has none
    show_plan(design, device)
    tell_expected_time(design, device, seeds)
    stages = Stages()
    with stages.stage(f"synthesize {design.name} for {device.title}") as detail:
        found = design.synthesize(
            device, seeds=range(1, seeds + 1), mhz=mhz, liberty=liberty, energy=operands, progress=detail
        )
        equal = netlist_equivalence(design.verilog, design.name, device, progress=detail) if equivalence else None
    rate = _images_a_second(design, found)
    if report is not None:
        more: dict[str, Any] = {} if rate is None else {"images_per_second": round(rate)}
        more |= {} if equal is None else {"equivalence": dataclasses.asdict(equal)}
        write_file(report, json_bytes(found.as_json() | more))
    if floorplan is not None:
        write_file(floorplan, floorplan_script(found.floorplan).encode())
    show_report(found, rate, equal)
    if (mhz is not None and found.met is False) or (equal is not None and not equal.holds):
        raise click.exceptions.Exit(1)


def _seeds(clocks: Sequence[float]) -> str:
    """Return what the median of the seeds' `clocks` stands for."""
    if len(clocks) == 1:
        return f"one seed; the clocks of three seeds differed by up to {_SPREAD} %"
    return "median of " + ", ".join(f"{mhz:g}" for mhz in clocks)


def _images_a_second(design: Design, report: SynthReport) -> float | None:
    """Return the images a second of a network at the clock that it reached; None without stages or a clock."""
    if not design.stages or report.fmax_mhz is None:
        return None
    slowest: int = max(stage["image_cycles"] for stage in design.stages)
    return report.fmax_mhz * 1e6 / slowest


def show_report(report: SynthReport, rate: float | None, equal: Equivalence | None = None) -> None:
    """Print the figures as a table, with the `rate` of a network in images a second, and whether the netlist is `equal`
    to the Verilog.
    """
    table = Table(show_header=False, box=None)
    figures = report.as_json()
    rows: list[tuple[str, object]] = [
        ("target", open_target(report.target).title),
        ("MACs per cycle", report.macs_per_cycle),
    ]
    rows += _gates(report, figures) if report.gates is not None else _part(report, figures)
    if rate is not None:
        rows.append(("images a second", f"{rate:.0f} at {report.fmax_mhz:g} MHz"))
    rows += _energy(report.energy) if report.energy is not None else []
    if equal is not None:
        rows.append(("netlist", _equal(equal)))
    for label, value in rows:
        table.add_row(label, str(value))
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH).print(table)
    if report.blocks:
        Console(highlight=False).print(_by_block(report))
    if report.parts:
        Console(highlight=False).print(_by_part(report))


def _equal(equal: Equivalence) -> str:
    """The result of a proof of equivalence, in a line."""
    if equal.holds:
        return f"proven to be equal to the Verilog, in {equal.proven} bits of registers, memories, multipliers, outputs"
    names = ", ".join(map(shown, equal.undecided[:3])) + ", ..." * (len(equal.undecided) > 3)
    return f"not proven to be equal to the Verilog: {len(equal.undecided)} bits are undecided: {names}"


def _energy(energy: Energy) -> Iterator[tuple[str, object]]:
    """Rows of an estimate of energy."""
    figures = energy.as_json()
    each = {name: figures[f"{name}_pj"] for name in ("total", "clock", "registers", "logic", "least", "most")}
    parts = f"clock {each['clock']:.0f}, registers {each['registers']:.0f}, logic {each['logic']:.0f}"
    yield "energy", f"{each['total']:.0f} pJ an inference, {figures['pj_per_mac']:.2f} a multiply-accumulate: {parts}"
    bounds = f"{each['least']:.0f} to {each['most']:.0f} pJ by the tables of {energy.library} at {energy.volts:g} V"
    yield "its bounds", f"{bounds}; without wires and clock buffers ({energy.inferences} in {energy.cycles} cycles)"
    yield "leakage", f"{energy.leakage:.2f} uW"


def _gates(report: SynthReport, figures: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Rows of a target of gates or standard cells."""
    yield "cells", report.gates
    yield "gates", f"{(report.gates or 0) - report.ff}{_per_mac(report.gates_per_mac)}"
    yield "registers", f"{report.ff}{_per_mac(figures['ff_per_mac'])}"
    if report.area is None:
        return
    each = report.per_mac(report.area)
    yield "area", f"{report.area:.0f} in the library's unit{_per_mac(None if each is None else round(each))}"
    path = report.critical_path
    if path is None:
        yield "MHz", f"not known: the library must have delays, and OpenSTA be there ({BRINGS})"
        return
    yield "MHz", f"{report.fmax_mhz:g}, before layout; gates were sized for {report.target_mhz:g}"
    yield "critical path", f"{path.start} -> {path.end}: {path.nanoseconds:.2f} ns, {path.levels} gates"


def _part(report: SynthReport, figures: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Rows of a target that is a part."""
    yield "LUT sites", f"{report.lut_sites}{_per_mac(report.lut_sites_per_mac)}"
    yield "carry bits", report.carries
    yield "registers", report.ff
    yield "DSP blocks", report.dsp
    yield "memory blocks", report.ram
    if report.open_ports:
        yield "ports", f"{report.open_ports} bits, more than there are pins: left open"
    if report.floorplan:
        yield "floorplan", floorplan_line(report.floorplan)
    if report.fmax_mhz is not None:
        yield "MHz", f"{report.fmax_mhz:g} ({_seeds(report.fmax_mhz_per_seed)}; {report.target_mhz:g} asked for)"
        yield from ((f"not routed: seed {seed}", reason) for seed, reason in report.not_routed.items())
        yield from ((f"not timed: {kind}", "no path to or from it is in these MHz") for kind in report.untimed)
        yield "clock", clock_verdict(report)
        yield "million MACs/s", figures["mmacs_per_second"]
        yield "critical path", report.critical_path


def _per_mac(figure: float | None) -> str:
    """Return the end of a count's line: the `figure` for each multiply-accumulate, if there are any."""
    return "" if figure is None else f" ({figure} per MAC)"


def _by_block(report: SynthReport) -> Table:
    """Area by module of the design."""
    table = Table(box=None, title="area by block, each mapped by itself", title_justify="left")
    table.add_column("block")
    for head in ("instances", "area of one", "of all, share"):
        table.add_column(head, justify="right")
    whole = report.blocks[report.name]["area"]
    for block, figures in report.blocks.items():
        share = figures["instances"] * figures["area"] / whole
        table.add_row(block, f"{figures['instances']:.0f}", f"{figures['area']:.0f}", f"{share:.1%}")
    return table


def _by_part(report: SynthReport) -> Table:
    """Cells by part of the design, in Yosys' netlist."""
    table = Table(box=None, title="cells by stage, before place and route", title_justify="left")
    table.add_column("stage")
    for head in ("LUT sites", "registers", "DSP blocks", "memory blocks"):
        table.add_column(head, justify="right")
    for part, figures in report.parts.items():
        table.add_row(shown(part), *(str(figures[key]) for key in ("lut_sites", "ff", "dsp", "ram")))
    return table
