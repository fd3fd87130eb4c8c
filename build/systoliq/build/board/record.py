"""Record of a design that was put on a board: what makes the same again, found by the fingerprint that the board gives.

Bitstreams and simulated boards leave it in the cache, so that `systoliq board run` needs no SOURCE on the machine that
made them.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from systoliq.sim.cache import content_key, obtain

from ..errors import InputError

__all__ = ["Record", "find_record", "keep_record"]

_FILE = "record.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """The SOURCE and all options of the command line that made a design, by the names of their parameters."""

    source: str
    options: dict[str, Any]


def keep_record(fingerprint: bytes, record: Record) -> None:
    """Keep `record`, in which files stand by their full paths, under the fingerprint of its design."""

    def make(folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps(dataclasses.asdict(record)))

    obtain("board_designs", _key(fingerprint), make)


def find_record(fingerprint: bytes) -> Record:
    """What made the design with this fingerprint; InputError where that was not on this machine."""

    def make(folder: Path) -> None:
        raise InputError(f"SOURCE must be given: the board's design, {fingerprint.hex()}, was not made on this machine")

    folder, _ = obtain("board_designs", _key(fingerprint), make)
    return Record(**json.loads((folder / _FILE).read_text()))


def _key(fingerprint: bytes) -> str:
    return content_key("1", fingerprint)
