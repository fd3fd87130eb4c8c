"""The output directory: it is written completely or not at all, and only files of systoliq are ever replaced."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import InputError
from ..files import refuse_file, umask
from ..generator import GENERATOR

__all__ = ["check_output", "write_output"]


def check_output(directory: Path) -> set[str]:
    """Names of the files in `directory` that an earlier emission wrote; an InputError where it may not be written to.

    It may be new, empty, or one that systoliq wrote (its sidecar lists the files). A lock prevents other processes from
    replacing it meanwhile.
    """
    parent = Path(os.path.realpath(directory)).parent
    with _turn(parent) if parent.is_dir() else contextlib.nullcontext():
        return _written(directory)


def _written(directory: Path) -> set[str]:
    """See `check_output`; in this process's turn."""
    refuse_file(directory)
    if not directory.is_dir() or not any(directory.iterdir()):
        return set()
    written: set[str] = set()
    for path in sorted(directory.glob("*.json")):
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_text())
            if isinstance(found, dict) and found.get("generator") == GENERATOR and isinstance(found.get("files"), dict):
                written |= {path.name, *(name for name in found["files"] if (directory / name).parent == directory)}
    if not written:
        raise InputError(f"{directory}: must be new, empty or written by systoliq; it holds other files")
    return written


def write_output(directory: Path, files: Mapping[str, bytes], *, replace: bool = False) -> None:
    """Write `files` to `directory`: into a temporary directory that is then renamed, one process at a time.

    Files of an earlier emission are deleted. Other files, such as a simulator's, stay. The emission of a package of
    another kind or name is deleted only with `replace`; parameters do not count, so that a design can be changed and
    emitted again.
    """
    check_output(directory)
    parent = Path(os.path.realpath(directory)).parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: cannot be written ({error.strerror})") from error
    with _turn(parent):
        _write(directory, files, replace=replace)


def _write(directory: Path, files: Mapping[str, bytes], *, replace: bool) -> None:
    written = _written(directory)
    kept = {name: (directory / name).read_bytes() for name in written if (directory / name).is_file()}
    others = _packages(kept) - _packages(files)
    if others and not replace:
        raise InputError(
            f"{directory}: must be new, empty or hold the {' '.join(_packages(files))}, not the {min(others)}: give "
            "another directory, or --replace"
        )
    directory = Path(os.path.realpath(directory))
    strangers = {path.name for path in directory.iterdir()} - written if directory.is_dir() else set()
    clash = sorted(strangers & set(files))
    if clash:
        raise InputError(f"{directory}: must not hold a {clash[0]} that systoliq did not write")
    try:
        building = Path(tempfile.mkdtemp(prefix=".systoliq-", dir=directory.parent))
    except OSError as error:
        raise InputError(f"{directory}: cannot be written ({error.strerror})") from error
    try:
        building.chmod(directory.stat().st_mode & 0o777 if directory.is_dir() else 0o777 & ~umask())
        for name, content in files.items():
            (building / name).write_bytes(content)
        _put_in_place(building, directory, strangers)
    finally:
        shutil.rmtree(building, ignore_errors=True)


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """A lock on `folder` itself, which leaves no file; on systems without locks, renaming must suffice."""
    try:
        import fcntl  # not on every system
    except ImportError:
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # one that cannot be read
        yield
        return
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _packages(files: Mapping[str, bytes]) -> set[str]:
    """Kind and name of each package whose sidecar is among `files`."""
    found = set()
    for name, content in files.items():
        if name.endswith(".json"):
            with contextlib.suppress(ValueError):
                sidecar = json.loads(content)
                if isinstance(sidecar, dict) and "top" in sidecar:
                    found.add(f"{sidecar.get('kind')} {sidecar['top']!r}")
    return found


def _put_in_place(building: Path, directory: Path, strangers: set[str]) -> None:
    if not directory.exists():
        building.rename(directory)
        return
    old = Path(tempfile.mkdtemp(prefix=".systoliq-", dir=directory.parent))
    directory.rename(old)  # onto an empty directory, which it replaces
    try:
        building.rename(directory)
    except BaseException:
        old.rename(directory)
        raise
    for name in strangers:
        (old / name).rename(directory / name)
    shutil.rmtree(old, ignore_errors=True)
