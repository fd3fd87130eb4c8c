"""Files that are written whole or not at all, and the forms in which results go into them."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

__all__ = ["check_file", "json_bytes", "npz_bytes", "write_file"]


def check_file(name: str, path: Path | None) -> None:
    """An InputError where the output file `path` cannot be written: its folder must be there."""
    if path is not None and path.is_dir():
        raise InputError(f"{name} must be a file, but {path} is a directory")
    if path is not None and not path.absolute().parent.is_dir():
        raise InputError(f"{name}: the directory {path.absolute().parent} must exist")


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.absolute().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def json_bytes(content: Any) -> bytes:
    """`content` as the text of a JSON file."""
    return (json.dumps(content, indent=2) + "\n").encode()


def npz_bytes(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """An .npz archive; numpy dates its members 1980, so that the same arrays give the same bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **dict(arrays))
    return file.getvalue()
