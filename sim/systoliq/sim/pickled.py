"""Pickled files between a bench and the process that starts it, each only for the other end of one run."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["leave", "take"]


def leave(path: Path, items: Sequence[Any]) -> None:
    """Write `items` to the file `path` for the other end."""
    path.write_bytes(pickle.dumps(list(items)))


def take(path: Path) -> list[Any]:
    """Return the items in the file `path`, which the other end of this run wrote."""
    items: list[Any] = pickle.loads(path.read_bytes())  # written by this run
    return items
