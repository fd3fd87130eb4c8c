"""Content of a source: what a step depends on, as bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..onnx import Model

__all__ = ["content_of"]


def content_of(source: str | Path | None) -> str:
    """Return a digest of the file that `source` names, with the weights beside it if it is a model, or of its name.

    A part that follows `#` counts by its name.
    """
    if source is None:
        return "none"
    file, _, node = str(source).partition(".onnx#")
    path = Path(f"{file}.onnx" if node else file)
    if not path.is_file():
        return str(source)
    digest = hashlib.sha256(path.read_bytes())
    if path.suffix == ".onnx":
        for place in _beside(path):
            digest.update(place.read_bytes())
    return f"{digest.hexdigest()} {node}"


def _beside(path: Path) -> list[Path]:
    """Return the files with data of the model in the file `path`."""
    held = Model.open(path).proto.graph.initializer
    names = {entry.value for tensor in held for entry in tensor.external_data if entry.key == "location"}
    return [path.parent / name for name in sorted(names)]
