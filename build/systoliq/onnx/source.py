"""SOURCE of a model: FILE.onnx, or FILE.onnx#NODE for one of its matrix products."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import InputError

__all__ = ["is_model", "split_source"]

_SOURCE = re.compile(r"(?P<path>.+?\.onnx)(#(?P<node>.*))?", re.IGNORECASE | re.DOTALL)


def is_model(source: str) -> bool:
    """True if SOURCE has the form of a model: FILE.onnx or FILE.onnx#NODE."""
    return _SOURCE.fullmatch(source) is not None


def split_source(source: str) -> tuple[Path, str | None]:
    """The file and the node that FILE.onnx#NODE names; InputError for any other form."""
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise InputError(f"SOURCE must be FILE.onnx or FILE.onnx#NODE, not {source!r}")
    return Path(match["path"]), match["node"]
