"""Files of a package as such, before any is read: regular ones, of bounded size.

A FIFO or a device would never end; a sparse file can be larger than all memory.
"""

from __future__ import annotations

from pathlib import Path

from .lexis import MOST_BYTES

__all__ = ["unreadable_entry"]

_MOST_TEXT_BYTES = 1 << 25  # of each file other than Verilog and archives
_BOUNDS = {
    **dict.fromkeys(("", ".v", ".sv", ".vlt", ".vh", ".mem", ".npz"), MOST_BYTES),
    **dict.fromkeys((".json", ".core", ".sdc", ".xdc", ".tcl", ".xml", ".py", ".h", ".html"), _MOST_TEXT_BYTES),
}
"""The most bytes of a file, by the end of its name. Files with other names are not bounded: none is read."""


def unreadable_entry(directory: Path) -> str | None:
    """Return why a file in `directory` must not be opened, for the first such file by name; None if there is none."""
    for entry in sorted(directory.iterdir()):
        if entry.is_dir() or not entry.exists():
            continue
        if not entry.is_file():
            return f"{entry.name}: must be a regular file"
        if entry.suffix in _BOUNDS and (size := entry.stat().st_size) > _BOUNDS[entry.suffix]:
            return f"{entry.name}: must have at most {_BOUNDS[entry.suffix]} bytes, not {size}"
    return None
