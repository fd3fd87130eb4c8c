"""Files that are written whole or not at all, and the forms in which results go into them."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from .errors import InputError

__all__ = ["INPUT_BYTES", "check_file", "json_bytes", "read_input", "refuse_file", "umask", "write_file"]


INPUT_BYTES = 1 << 26
"""Largest size of a plan, a workload or a library of cells, in bytes."""


def check_file(name: str, path: Path | None) -> None:
    """An InputError where the output file `path` must not be written.

    It may be new, or a regular file, in a folder that is there. Links are not followed, and devices and pipes neither
    written to nor replaced.
    """
    if path is None:
        return
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not path.absolute().parent.is_dir():
            raise InputError(f"{name}: the directory {path.absolute().parent} must exist") from None
        return
    except NotADirectoryError:
        raise InputError(f"{name}: the directory {path.absolute().parent} must exist") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{name} must be a file, but {path} is a directory")
    if stat.S_ISLNK(mode):
        raise InputError(f"{name} must be a file, but {path} is a link to {path.readlink()}: name that")
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{name} must be a regular file, but {path} is a {_KINDS.get(stat.S_IFMT(mode), 'special file')}"
        )


_KINDS = {stat.S_IFCHR: "device", stat.S_IFBLK: "device", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


def refuse_file(directory: Path) -> None:
    """An InputError where `directory`, or one that it lies in, is a file."""
    existing = next((path for path in (directory, *directory.absolute().parents) if path.exists()), None)
    if existing is not None and not existing.is_dir():
        raise InputError(f"{directory}: must be a directory, but {existing} is a file")


def read_input(path: Path) -> bytes:
    """The content of a small input file; InputError if it is not a regular file, or larger than `INPUT_BYTES`."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if not path.is_file():
        raise InputError(f"{path}: must be a regular file")
    if (size := path.stat().st_size) > INPUT_BYTES:
        raise InputError(f"{path}: must have at most {INPUT_BYTES} bytes, not {size}")
    return path.read_bytes()


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; an InputError where `check_file` has one. Its mode stays, if there was one."""
    check_file(path.name, path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~umask()
    handle, temporary = tempfile.mkstemp(prefix=".systoliq-", dir=path.absolute().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def umask() -> int:
    """The mode bits that new files of this process do not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def json_bytes(content: Any) -> bytes:
    """`content` as the text of a JSON file."""
    return (json.dumps(content, indent=2) + "\n").encode()
