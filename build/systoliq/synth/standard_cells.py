"""Standard cells: a library in Liberty form, as Yosys reads it, and the commands that map a design to it.

Registers by dfflibmap, logic by ABC, which sizes gates and buffers fan-out for a clock period: without a driving cell
it would leave every fan-out to one gate. There are no memories: theirs become flip-flops, and constants gates.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systoliq.subprocesses import run_child

from ..errors import InputError, MissingPackageError
from ..files import read_input
from .families.generic import ABC_SCRIPT
from .target import Target
from .tools import Command

__all__ = [
    "CELLS",
    "CONSTANT_BITS",
    "MEMORY_BITS",
    "Library",
    "check_memory",
    "library_of",
    "mapping",
    "read_library",
]

CELLS = "cells.lib"
MEMORY_BITS = 1 << 14
"""Largest number of memory bits in a design: each becomes a flip-flop with gates to write and read it."""

CONSTANT_BITS = 1 << 17
"""Largest number of bits in memories that are never written, mostly weights: ABC makes gates of them."""

_CONSTRAINTS = "cells.constr"
_LOAD = 10.0  # fF at each output
_SECONDS = 120  # for Yosys to read a library
_TIME_UNITS = ("1ps", "10ps", "100ps", "1ns")  # as in the Liberty reference manual, where 1ns is the default
_REGISTERS = ("$_DFF_P_", "$_SDFF_P", "$_DFFE_P")


@dataclass(frozen=True, kw_only=True)
class Library:
    """A Liberty file: its `content`, whether it has delays (`timed`), and the name of its smallest `buffer`, if any."""

    content: bytes
    timed: bool
    buffer: str | None


def library_of(target: Target, liberty: Path | None) -> Path | None:
    """The Liberty file to use: the target's, or `liberty` for the target generic."""
    if liberty is not None and target.name != "generic":
        raise ValueError(f"liberty cannot be used with {target.name}: only the target generic uses it")
    if target.library is None:
        return liberty
    path = Path(target.library.path)
    if not path.is_file():
        raise MissingPackageError(f"{path} is not there; {target.name} needs it: {target.library.brings}")
    return path


def read_library(path: Path, yosys: Command) -> Library:
    """The library in `path`; InputError where it is no Liberty file, its units are unknown, or it has no flip-flop."""
    content = read_input(path)
    _check_units(path, content.decode(errors="replace"))
    with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
        (Path(folder) / CELLS).write_bytes(content)
        script = f"read_liberty -ignore_miss_func {CELLS}\nwrite_json cells.json\n"
        (Path(folder) / "read.ys").write_text(script)
        try:
            done = run_child([*yosys.argv, "read.ys"], cwd=Path(folder), timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise InputError(f"{path}: must be readable in {_SECONDS} s, and is not") from error
        read = Path(folder) / "cells.json"
        if done.returncode or not read.exists():
            lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
            reason = lines[-1].partition("ERROR:")[2].strip() if lines else "Yosys stopped"
            raise InputError(f"{path}: must be a Liberty file ({reason})")
        cells: dict[str, Any] = json.loads(read.read_text())["modules"]
    if not any(_is_register(cell) for cell in cells.values()):
        raise InputError(f"{path}: must have a flip-flop among its {len(cells)} cells")
    buffers = [name for name, cell in cells.items() if _is_buffer(cell)]
    buffer = min(buffers, key=lambda name: (_area(cells[name]), name), default=None)
    return Library(content=content, timed=b"cell_rise" in content, buffer=buffer)


def _check_units(path: Path, text: str) -> None:
    found = re.search(r"\btime_unit\s*:\s*\"?\s*([^\";\n]*?)\s*\"?\s*;", text)
    if found and found[1].replace(" ", "") not in _TIME_UNITS:
        raise InputError(f"{path}: time_unit must be one of {', '.join(_TIME_UNITS)}, not {found[1][:40]!r}")
    load = re.search(r"\bcapacitive_load_unit\s*\(\s*[^,)]*,\s*\"?([^\")]*?)\"?\s*\)", text)
    if load and load[1].strip().lower() not in ("ff", "pf"):
        raise InputError(f"{path}: capacitive_load_unit must be in ff or pf, not {load[1][:40]!r}")


def _is_register(cell: dict[str, Any]) -> bool:
    return any(each["type"].startswith(_REGISTERS) for each in cell["cells"].values())


def _is_buffer(cell: dict[str, Any]) -> bool:
    ports = list(cell["ports"].values())
    return not cell["cells"] and len(ports) == 2 and ports[0]["bits"] == ports[1]["bits"] != []


def _area(cell: dict[str, Any]) -> float:
    return float(cell["attributes"].get("area", "inf"))


def mapping(library: Library, mhz: float, folder: Path) -> list[str]:
    """Yosys' commands that map a synthesized design to the library, for this clock; their files go into `folder`."""
    (folder / CELLS).write_bytes(library.content)
    abc, script = f"abc -liberty {CELLS}", ABC_SCRIPT.format("")
    if library.buffer is not None and library.timed and mhz:
        text = f"set_driving_cell {library.buffer}\nset_load {_LOAD} [all_outputs]\n"
        (folder / _CONSTRAINTS).write_text(text)
        period = f"{1e6 / mhz:.0f}"
        abc += f" -constr {_CONSTRAINTS} -D {period}"
        clock = f",-D,{period}"
        script = f"{ABC_SCRIPT.format(clock)};buffer;upsize{clock};dnsize{clock}"
    return [f"dfflibmap -liberty {CELLS}", f"{abc} -script {script}", "opt_clean -purge"]


def check_memory(name: str, bits: int, constants: int = 0) -> None:
    """InputError where the memories of the design `name` have too many `bits`, or those never written `constants`."""
    if constants > CONSTANT_BITS:
        raise InputError(
            f"{name} must have at most {CONSTANT_BITS} bits of constants for standard cells, gates then, not "
            f"{constants}"
        )
    if bits > MEMORY_BITS:
        raise InputError(
            f"{name} must have at most {MEMORY_BITS} bits of memory for standard cells, each a flip-flop then, "
            f"not {bits}: an engine has less with --a-words, --b-words, --max-columns and --max-rows"
        )
