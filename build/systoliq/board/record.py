"""Record of a design that was put on a board: what makes the same again, found by the fingerprint that the board gives.

Bitstreams and simulated boards leave it in the cache, so that `systoliq board run` needs no SOURCE on the machine that
made them.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from systoliq.sim.cache import cache_directory

from ..errors import InputError
from ..files import json_bytes, write_file

__all__ = ["Record", "find_record", "keep_record"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """The SOURCE and all options of the command line that made a design, by the names of their parameters."""

    source: str
    options: dict[str, Any]


def keep_record(fingerprint: bytes, record: Record) -> None:
    """Keep `record`, with files by their full paths, under the fingerprint of its design; the last one holds."""
    path = _path(fingerprint)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json_bytes(dataclasses.asdict(record)))


def find_record(fingerprint: bytes) -> Record:
    """The record of the design with this fingerprint; InputError if the design was not made on this machine."""
    try:
        return Record(**json.loads(_path(fingerprint).read_text()))
    except (FileNotFoundError, TypeError, ValueError):
        raise InputError(
            f"SOURCE must be given: the board's design, {fingerprint.hex()}, was not made on this machine"
        ) from None


def _path(fingerprint: bytes) -> Path:
    return cache_directory() / "board_designs" / f"{fingerprint.hex()}.json"
