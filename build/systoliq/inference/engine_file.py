"""Engine file: the configuration of an engine in an emitted package, or in a JSON file."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from systoliq.hw.engine import EngineConfig

from ..errors import InputError
from ..files import read_input

__all__ = ["read_engine"]

_FORMATS = ("a", "b", "y")
_FIELDS = tuple(field.name for field in dataclasses.fields(EngineConfig) if field.name not in _FORMATS)


def read_engine(path: Path) -> tuple[EngineConfig, int | None]:
    """The engine of integers in `path`, and the bits of its bus, None where it has streams.

    `path` is a package of `systoliq emit engine`, its sidecar, or JSON with fields of `EngineConfig` and `bus_bits`.
    InputError where it is none.
    """
    if not path.exists():
        raise InputError(
            f"{path}: there is no such file or directory: give the directory of systoliq emit engine, or a JSON file"
        )
    file = _sidecar(path) if path.is_dir() else path
    try:
        content = json.loads(read_input(file))
    except ValueError as error:
        raise InputError(f"{file}: must be JSON ({' '.join(str(error).split())})") from error
    engine = content.get("engine", content) if isinstance(content, dict) else content
    if not isinstance(engine, dict):
        raise InputError(f"{file}: must describe an engine")
    if "formats" in engine:
        raise InputError(f"{file}: must be an engine of integers, not of float8")
    given = {name: value for name, value in engine.items() if name in _FIELDS}
    if unknown := [name for name in engine if name not in (*_FIELDS, *_FORMATS, "bus_bits")]:
        raise InputError(f"{file}: must have fields of an engine, not {unknown[0]!r}: {', '.join(_FIELDS)}, bus_bits")
    if not given:
        raise InputError(f"{file}: must describe an engine, with fields such as rows and cols")
    bus = engine.get("bus_bits")
    if bus is not None and (not isinstance(bus, int) or isinstance(bus, bool)):
        raise InputError(f"{file}: bus_bits must be a number of bits, not {bus!r}")
    try:
        return EngineConfig(**given), bus
    except (TypeError, ValueError) as error:
        raise InputError(f"{file}: {error}") from error


def _sidecar(folder: Path) -> Path:
    """The sidecar of the engine in a package's folder."""
    found = [file for file in sorted(folder.glob("*.json")) if "engine" in _facts(file)]
    if len(found) != 1:
        raise InputError(f"{folder}: must hold the sidecar of one engine, and holds {len(found)}")
    return found[0]


def _facts(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_input(file))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
