"""nextpnr: place and route of a netlist with one seed, and the contents of its report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from systoliq.failed import FailedError

from ..errors import SynthesisError
from .report import CriticalPath
from .targets import CLOCK_PIN_FILE, Target
from .tools import Command
from .yosys import DSPS

__all__ = [
    "DoesNotFitError",
    "critical_path",
    "is_lack_of_room",
    "max_mhz",
    "run_nextpnr",
    "site_figures",
    "untimed_cells",
]

# Unit of each kind of site. Memory in LUTs of a Gowin takes the eight of its block.
_SITES: dict[str, dict[str, dict[str, int]]] = {
    "ecp5": {
        "lut_sites": {"TRELLIS_COMB": 1},
        "ff": {"TRELLIS_FF": 1},
        "dsp": DSPS,
        "ram": {"DP16KD": 1},
    },
    "ice40": {"lut_sites": {"ICESTORM_LC": 1}, "dsp": {"ICESTORM_DSP": 1}, "ram": {"ICESTORM_RAM": 1}},
    "gowin": {
        "lut_sites": {"LUT4": 1, "ALU": 1, "RAM16SDP4": 8},
        "ff": {"DFF": 1},
        "dsp": DSPS,
        "ram": {"BSRAM": 1},
    },
}
# nextpnr has no timing of the pins of these: no path to or from them is timed, nor placed for.
_UNTIMED = ("ALU54B", "MULT9X9", "MULT18X18", "MULT36X36", "BSRAM")
_NOT_STATIC = ("ALU54B",)  # a trap for nextpnr-ecp5's static placer
_OUTPUTS = {"ecp5": "--textcfg", "ice40": "--asc", "gowin": "--write"}
_NO_ROOM = re.compile(
    r"[Uu]nable to place|[Uu]nable to find a placement|no Bels remaining|Out of space|too many|more .* than"
)


class DoesNotFitError(FailedError):
    """The part has too few resources of a kind; the message says what is needed and available."""


def run_nextpnr(nextpnr: Command, target: Target, mhz: float, seed: int, folder: Path) -> dict[str, Any]:
    """The report of one run; nextpnr's log stays in `folder`."""
    output = (_OUTPUTS[target.family], f"out_{seed}.txt")
    if target.clock_pin:
        (folder / CLOCK_PIN_FILE).write_text(f'IO_LOC "clk" {target.clock_pin};\n')
    done = nextpnr.run(
        *_arguments(target, folder),
        *("--json", "netlist.json", "--freq", f"{mhz:g}", "--seed", str(seed), "--timing-allow-fail", "-q"),
        *("--log", f"nextpnr_{seed}.log", "--report", f"report_{seed}.json", "--detailed-timing-report"),
        *(() if "--out-of-context" in target.place else output),
        cwd=folder,
    )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        message = errors[0].removeprefix("ERROR: ") if errors else done.stderr.strip()[-500:]
        raise (DoesNotFitError if is_lack_of_room(message) else SynthesisError)(f"{target.title}: {message}")
    report: dict[str, Any] = json.loads((folder / f"report_{seed}.json").read_text())
    return report


def is_lack_of_room(message: str) -> bool:
    """True if an error of nextpnr says that the part has too few resources."""
    return bool(_NO_ROOM.search(message))


def _arguments(target: Target, folder: Path) -> tuple[str, ...]:
    """The target's arguments, but for its placer where that would not live through the netlist in `folder`."""
    cells = re.findall(r'"type": "(\w+)"', (folder / "netlist.json").read_text())
    return target.place if set(cells) & set(_NOT_STATIC) else target.placed


def site_figures(report: dict[str, Any], family: str) -> dict[str, float]:
    """Sites used, by the keys of a report."""
    used = report["utilization"]
    return {
        key: sum(size * used.get(kind, {}).get("used", 0) for kind, size in kinds.items())
        for key, kinds in _SITES[family].items()
    }


def untimed_cells(report: dict[str, Any]) -> tuple[str, ...]:
    """The kinds of cells in use that the frequency says nothing about."""
    return tuple(kind for kind in _UNTIMED if report["utilization"].get(kind, {}).get("used"))


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


_TAIL = re.compile(r"(_TRELLIS_FF|_LUT[1-7]|_PFUMX|_L6MUX21|_CCU2C|_SB_|_DFF|_ALU|_MUX2|_RAM16|\$).*")


def _signal(cell: str) -> str:
    """The design's name of the signal that a cell computes: Yosys and nextpnr add suffixes."""
    return _TAIL.sub("", cell)


def _block(cell: str) -> str:
    """The block that a cell lies in."""
    return _signal(cell).rpartition(".")[0]
