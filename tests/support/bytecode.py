"""Python's bytecode, written once for all tests and all processes that they start.

A process that imports the package compiles 660 modules where no bytecode is kept, for longer than most commands run:
1.6 s of CPU instead of 0.75 s.
"""

from __future__ import annotations

import os
import sys

from systoliq.sim.cache import cache_directory

__all__ = ["keep"]


def keep() -> None:
    """Where the environment forbids Python to write bytecode beside the sources, let it write bytecode to the cache."""
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = str(cache_directory() / "bytecode")
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
