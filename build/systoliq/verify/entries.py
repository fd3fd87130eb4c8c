"""Files of a package as such, before any is read: regular ones, of bounded size.

A FIFO or a device would never end; a sparse file can be larger than all memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .lexis import MOST_BYTES

__all__ = ["MOST_JSON_BYTES", "unreadable_entries"]

MOST_JSON_BYTES = 1 << 25  # of each file other than Verilog and archives
_BOUNDS = {
    **dict.fromkeys(("", ".v", ".sv", ".vlt", ".vh", ".mem", ".npz"), MOST_BYTES),
    **dict.fromkeys((".json", ".core", ".sdc", ".xdc", ".tcl", ".xml", ".py", ".h", ".html"), MOST_JSON_BYTES),
}
"""The most bytes of a file, by the end of its name. Files with other names are not bounded: none is read."""


def unreadable_entries(directory: Path) -> Iterator[str]:
    """Why entries of `directory` that are or look like files of a package must not be opened."""
    for entry in sorted(directory.iterdir()):
        if entry.is_dir() or not entry.exists():
            continue
        if not entry.is_file():
            yield f"{entry.name}: must be a regular file"
        elif entry.suffix in _BOUNDS and (size := entry.stat().st_size) > _BOUNDS[entry.suffix]:
            yield f"{entry.name}: must have at most {_BOUNDS[entry.suffix]} bytes, not {size}"
