"""Place, route and pack of a board's netlist: the tools' arguments for each family, and what their report says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..errors import SynthesisError
from ..synth.families import FAMILIES, Packing
from ..synth.nextpnr import DoesNotFitError, is_lack_of_room
from ..synth.placed_cells import PlacedCell, placed_cells
from ..synth.tools import Command, find_nextpnr, find_script
from .description import Board

__all__ = [
    "NETLIST",
    "SITES",
    "bitstream_file",
    "constraints_file",
    "pack",
    "packer",
    "place",
    "placed_report",
    "placer",
    "sites",
]

NETLIST = "netlist.json"
SITES = "sites.json"
"""File of `place` with the tile of each cell: name, kind, x and y."""

_REPORT = "report.json"
_PLACED = "top.placed.json"


def bitstream_file(board: Board) -> str:
    """Name of what `pack` makes."""
    return f"top{_packing(board).suffix}"


def constraints_file(board: Board) -> str:
    """Name of the file with its pins, as its platform writes it."""
    return _packing(board).constraints


def placer(board: Board) -> Command:
    """nextpnr for its family."""
    return find_nextpnr(board.family)


def packer(board: Board) -> Command:
    """The tool that packs its bitstream."""
    packing = _packing(board)
    return find_script(packing.package, packing.command)


def _packing(board: Board) -> Packing:
    """Return what makes bitstreams of its family."""
    packing = FAMILIES[board.family].packing
    if packing is None:
        raise ValueError(f"board must be of a family with bitstreams, not {board.family}")
    return packing


def place(board: Board, mhz: float, seed: int, folder: Path) -> None:
    """Place and route `NETLIST` in `folder`, which holds the constraints, for a clock of `mhz`; its report and
    `SITES` stay there.

    Raises
    ------
    DoesNotFitError
        where the part has too little of something.
    """
    packing = _packing(board)
    packed = _PLACED in packing.write
    done = placer(board).run(
        *board.place, *packing.constrain, *packing.write, *(() if packed else ("--write", _PLACED)),
        "--json", NETLIST, "--freq", f"{mhz:.6g}", "--seed", str(seed),
        "--timing-allow-fail", "-q", "--log", "nextpnr.log", "--report", _REPORT,
        cwd=folder,
    )  # fmt: skip
    if done.returncode:
        errors = re.findall(r"^ERROR: (.*)", done.stderr, re.MULTILINE)
        message = errors[0] if errors else done.stderr.strip()[-500:]
        raise (DoesNotFitError if is_lack_of_room(message) else SynthesisError)(f"{board.title}: {message}")
    placed = folder / _PLACED
    cells = [[cell.name, cell.kind, cell.x, cell.y] for cell in placed_cells(json.loads(placed.read_bytes()))]
    (folder / SITES).write_text(json.dumps(cells))
    if not packed:
        placed.unlink()


def sites(folder: Path) -> list[PlacedCell]:
    """Return the cells that `place` placed in `folder`."""
    return [PlacedCell(*cell) for cell in json.loads((folder / SITES).read_text())]


def placed_report(folder: Path) -> dict[str, Any]:
    """nextpnr's own report."""
    report: dict[str, Any] = json.loads((folder / _REPORT).read_text())
    return report


def pack(board: Board, folder: Path) -> None:
    """Make the bitstream of what `place` left in `folder`."""
    command = packer(board)
    done = command.run(*board.pack, *_packing(board).arguments, cwd=folder)
    if done.returncode or not (folder / bitstream_file(board)).is_file():
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit status {done.returncode}"]
        raise SynthesisError(f"{Path(command.argv[0]).name} failed: {said[-1]}")
