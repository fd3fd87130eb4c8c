"""nextpnr: place and route of a netlist with one seed, and the contents of its report."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from systoliq.failed import FailedError

from ..errors import SynthesisError
from .families import FAMILIES, Placement
from .report import CriticalPath
from .target import CLOCK_PIN_FILE, Target
from .tools import Command

__all__ = [
    "DoesNotFitError",
    "NotRoutedError",
    "critical_path",
    "first_placement",
    "is_lack_of_room",
    "max_mhz",
    "run_nextpnr",
    "site_figures",
    "untimed_cells",
]

_NO_ROOM = re.compile(
    r"[Uu]nable to place|[Uu]nable to find a placement|no Bels remaining|Out of space|too many|more .* than"
)


class DoesNotFitError(FailedError):
    """The part has too few resources of a kind; the message says what is needed and available."""


class NotRoutedError(FailedError):
    """nextpnr was ended before it had placed and routed a design; the message says how far it was."""


def first_placement(nextpnr: Command, target: Target, mhz: float, folder: Path) -> dict[str, Any]:
    """The netlist in `folder`, placed and not routed."""
    _run(nextpnr, target, mhz, 1, folder, "--no-route", "--write", "placed.json")
    placed: dict[str, Any] = json.loads((folder / "placed.json").read_text())
    return placed


def run_nextpnr(nextpnr: Command, target: Target, mhz: float, seed: int, folder: Path) -> dict[str, Any]:
    """The report of one run; nextpnr's log stays in `folder`. Raises NotRoutedError after the target's `minutes`."""
    output = (_placement(target.family).output, f"out_{seed}.txt")
    options = ("--report", f"report_{seed}.json", "--detailed-timing-report")
    written = () if target.without_ports or "--out-of-context" in target.place else output
    _run(nextpnr, target, mhz, seed, folder, *options, *written)
    report: dict[str, Any] = json.loads((folder / f"report_{seed}.json").read_text())
    return report


def _run(nextpnr: Command, target: Target, mhz: float, seed: int, folder: Path, *options: str) -> None:
    if target.clock_pin:
        (folder / CLOCK_PIN_FILE).write_text(f'IO_LOC "clk" {target.clock_pin};\n')
    arguments = (
        *_arguments(target, folder),
        *("--json", "netlist.json", "--freq", f"{mhz:g}", "--seed", str(seed), "--timing-allow-fail", "-q"),
        *("--log", f"nextpnr_{seed}.log", *options),
    )
    try:
        done = nextpnr.run(*arguments, cwd=folder, timeout=60 * target.minutes)
    except subprocess.TimeoutExpired:
        progress = _progress(folder / f"nextpnr_{seed}.log")
        raise NotRoutedError(f"after {target.minutes:g} minutes, {progress}") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        message = errors[0].removeprefix("ERROR: ") if errors else done.stderr.strip()[-500:]
        raise (DoesNotFitError if is_lack_of_room(message) else SynthesisError)(f"{target.title}: {message}")


_ROUTING = re.compile(r"Routing (\d+) arcs")
_LEFT = re.compile(r"Info: +\d+ \| +\d+ +\d+ \| +\d+ +\d+ \| +(\d+)\|")


def _progress(log: Path) -> str:
    """How far nextpnr is, by its log."""
    text = log.read_text(errors="replace") if log.exists() else ""
    left, arcs = _LEFT.findall(text), _ROUTING.search(text)
    if arcs and left:
        return f"{left[-1]} of {arcs[1]} connections were not routed"
    return "nextpnr was still routing" if arcs else "nextpnr was still placing"


def is_lack_of_room(message: str) -> bool:
    """True if an error of nextpnr says that the part has too few resources."""
    return bool(_NO_ROOM.search(message))


def _arguments(target: Target, folder: Path) -> tuple[str, ...]:
    """The target's arguments, but for its placer where that would not live through the netlist in `folder`."""
    cells = re.findall(r'"type": "(\w+)"', (folder / "netlist.json").read_text())
    return target.place if set(cells) & set(_placement(target.family).not_static) else target.placed


def _placement(family: str) -> Placement:
    """Return the place and route of a family that has one."""
    placement = FAMILIES[family].placement
    if placement is None:
        raise ValueError(f"family must have place and route, not {family!r}")
    return placement


def site_figures(report: dict[str, Any], family: str) -> dict[str, float]:
    """Sites used, by the keys of a report."""
    used = report["utilization"]
    return {
        key: sum(size * used.get(kind, {}).get("used", 0) for kind, size in kinds.items())
        for key, kinds in _placement(family).used.items()
    }


def untimed_cells(report: dict[str, Any], family: str) -> tuple[str, ...]:
    """The kinds of cells in use that the frequency says nothing about."""
    return tuple(kind for kind in _placement(family).untimed if report["utilization"].get(kind, {}).get("used"))


def max_mhz(report: dict[str, Any]) -> float:
    """The frequency of the clock; 0 where nothing is registered."""
    return min((clock["achieved"] for clock in report["fmax"].values()), default=0.0)


def critical_path(report: dict[str, Any]) -> CriticalPath | None:
    """The slowest path from register to register."""
    paths = [p["path"] for p in report["critical_paths"] if all("posedge" in p[end] for end in ("from", "to"))]
    if not paths:
        return None
    path = max(paths, key=lambda hops: sum(hop["delay"] for hop in hops))
    blocks: list[str] = []
    for hop in path:
        block = _block(hop["to"]["cell"])
        if block and (not blocks or blocks[-1] != block):
            blocks.append(block)
    return CriticalPath(
        start=_signal(path[0]["from"]["cell"]),
        end=_signal(path[-1]["to"]["cell"]),
        blocks=tuple(blocks),
        nanoseconds=round(sum(hop["delay"] for hop in path), 2),
        routing_nanoseconds=round(sum(hop["delay"] for hop in path if hop["type"] == "routing"), 2),
        levels=sum(hop["type"] == "logic" and hop["delay"] > 0.1 for hop in path),  # steps along a carry chain are less
    )


_TAIL = re.compile(
    r"(_TRELLIS_FF|_LUT[1-7]|_PFUMX|_L6MUX21|_CCU2|_SB_|_DFF|_ALU|_MUX2|_RAM16|_FD1P3|_WIDEFN9|_MULT|_CC_|/|\$).*"
)


def _signal(cell: str) -> str:
    """The design's name of the signal that a cell computes: Yosys and nextpnr add suffixes."""
    return _TAIL.sub("", cell)


def _block(cell: str) -> str:
    """The block that a cell lies in."""
    return _signal(cell).rpartition(".")[0]
