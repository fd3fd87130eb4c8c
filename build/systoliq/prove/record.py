"""A record of proofs: a file with the properties that were proven and the seeded bugs that were caught, by content.

The key of an entry is a digest of all that decides it: the emitted harness with the models of its cells, the claims in
SMT-LIB, the method, the code that turns them into queries, and the versions of Yosys with ABC and of Bitwuzla.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from systoliq.sim.cache import content_key

from .property import Property

__all__ = ["Entry", "Record", "key_of"]

_TOOLS = ("pyosys", "bitwuzla")
_CODE = ("engines.py", "netlist.py", "unroll.py")
_OF_HARNESS = ("formulas", "free_products", "latency")


def key_of(prop: Property, harness: Any, content: str) -> str:
    """Return the key of the decision about `prop`; `content` is all that the netlist of its `harness` is made of."""
    claims = [repr(getattr(harness, name, None)) for name in _OF_HARNESS]
    code = [(Path(__file__).parent / name).read_bytes() for name in _CODE]
    tools = map(importlib.metadata.version, _TOOLS)
    return content_key(content, repr(prop.method), *claims, *tools, *code)


@dataclass(frozen=True)
class Entry:
    """A decision that passed: its key, and the seconds that it took."""

    key: str
    seconds: float


class Record:
    """The entries of a JSON `file`, by property and by what was decided: ``proof`` or ``bug``.

    Raises
    ------
    ValueError
        if the file exists and is not a record.
    OSError
        if it cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with _locked(file.absolute().parent):
            self._entries = _read(file)
            self._write()  # an error now, not after the first proof

    def find(self, name: str, *, seeded: bool) -> Entry | None:
        """Return the entry of property `name`, or of its bug; None if there is none."""
        return self._entries.get(name, {}).get(_kind(seeded))

    def add(self, name: str, entry: Entry, *, seeded: bool) -> None:
        """Add or replace the entry of property `name`, or of its bug, in the file, to which others may add, too."""
        with _locked(self._file.absolute().parent):
            self._entries = _read(self._file)
            self._entries.setdefault(name, {})[_kind(seeded)] = entry
            self._write()

    def _write(self) -> None:
        found = {
            name: {kind: asdict(entry) for kind, entry in sorted(entries.items(), reverse=True)}
            for name, entries in sorted(self._entries.items())
        }
        whole = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        whole.write_text(json.dumps(found, indent=1) + "\n")
        whole.replace(self._file)


def _read(file: Path) -> dict[str, dict[str, Entry]]:
    if not file.exists():
        return {}
    try:
        return {
            name: {kind: Entry(str(entry["key"]), float(entry["seconds"])) for kind, entry in entries.items()}
            for name, entries in json.loads(file.read_text()).items()
        }
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"{file} is not a record of proofs: {error}") from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time; the lock is the folder's own, so that no file is left."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _kind(seeded: bool) -> str:
    return "bug" if seeded else "proof"
