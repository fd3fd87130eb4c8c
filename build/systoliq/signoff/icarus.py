"""Testbench of a package, compiled by Icarus."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from systoliq.sim.process import SimulationError, tail
from systoliq.sim.tools import require
from systoliq.subprocesses import run_child

from .files import PackageFiles

__all__ = ["compiled"]


@contextmanager
def compiled(
    files: PackageFiles, text: str, beside: Mapping[str, str] | None = None
) -> Iterator[tuple[Path, list[str]]]:
    """Yield a temporary folder, and the command that runs there the testbench of `files` with the Verilog `text`, and
    the modules `beside` it, by name.

    Raises ToolError if Icarus is missing, and SimulationError if it does not compile them.
    """
    icarus, beside = require("icarus").path, beside or {}
    assert icarus is not None  # noqa: S101 - require() has seen to it
    with tempfile.TemporaryDirectory(prefix="systoliq-icarus-") as place:
        folder = Path(place)
        sources = [each.name for each in files.copied(folder, text)]
        for name, module in beside.items():
            (folder / f"{name}.v").write_text(module)
            sources.append(f"{name}.v")
        tops = [word for top in (files.bench, *beside) for word in ("-s", top)]
        command = [str(icarus), "-g2005", *tops, "-o", "t", *sources]
        done = run_child(command, cwd=folder, stderr=subprocess.STDOUT)
        if done.returncode:
            raise SimulationError(f"Icarus does not compile it: {tail(done.stdout, 3)}")
        yield folder, [str(icarus.with_name("vvp")), "-n", "t"]
