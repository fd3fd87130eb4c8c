"""Load a bitstream onto its board with the program that the board names."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

from systoliq.failed import FailedError
from systoliq.subprocesses import run_child

from ..errors import InputError, MissingPackageError
from ..generator import GENERATOR
from ..synth.tools import find_script
from .boards import BOARDS
from .description import Board
from .report import REPORT_FILE

__all__ = ["LoadError", "load_bitstream", "loadable"]

_OPEN = "openFPGALoader"
_FOLDER = "bitstream"  # of a build
_LIBRARY = re.compile(r"error while loading shared libraries: ([^:\s]+)")
_HINTS = {
    _OPEN: "pip install 'systoliq[board]', or apt-get install openfpgaloader",
    "dfu-util": "apt-get install dfu-util",
}


class LoadError(FailedError):
    """The program that loads bitstreams failed, for example because no board is connected."""


def loadable(directory: Path) -> tuple[Path, Board]:
    """Return the bitstream in `directory`, which `bitstream` or `build` wrote, and its board.

    Raises InputError if there is none.
    """
    for folder in (directory, directory / _FOLDER):
        try:
            held = json.loads((folder / REPORT_FILE).read_text())
        except (OSError, ValueError):
            continue
        if isinstance(held, dict) and held.get("generator") == GENERATOR and held.get("kind") == "bitstream":
            file, board = folder / str(held.get("file")), BOARDS.get(str(held.get("board")))
            if board is None:
                raise InputError(f"{folder / REPORT_FILE}: board must be one of {', '.join(BOARDS)}")
            if not file.is_file():
                raise InputError(f"{folder}: must hold the bitstream {file.name}, and does not")
            return file, board
    raise InputError(
        f"DIR must be a directory with a bitstream that systoliq bitstream or build wrote, not {directory}"
    )


def load_bitstream(file: Path, board: Board) -> None:
    """Load `file` onto the connected `board`.

    Raises MissingPackageError if the loader is not installed, and LoadError if it fails.
    """
    program, *arguments = shlex.split(board.load)
    words = [*_loader(program), *(word.format(file=file.absolute()) for word in arguments)]
    done = run_child(words)
    if done.returncode == 0:
        return
    said = [*done.stderr.splitlines(), *done.stdout.splitlines()]
    if library := _LIBRARY.search(done.stderr):
        raise LoadError(f"{program} needs the library {library[1]}: apt-get install libftdi1-2")
    text = next((line.strip() for line in said if line.strip()), f"exit status {done.returncode}")
    raise LoadError(f"{program} failed to load {file.name} onto {board.title}: {text}")


def _loader(program: str) -> tuple[str, ...]:
    """Return the command of a loader: of this machine, or the one that pip installed."""
    if found := shutil.which(program):
        return (found,)
    if program == _OPEN:
        try:
            return find_script("openfpgaloader", "openfpgaloader-cli").argv
        except MissingPackageError:
            pass
    raise MissingPackageError(f"{program} is not installed; loading needs it: {_HINTS[program]}")
