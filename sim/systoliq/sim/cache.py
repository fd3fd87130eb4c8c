"""Build results cached by content: the same inputs give the same folder, and a folder is either complete or absent.

A builder works in its own folder and renames it into place, so a failed or killed build leaves nothing that looks like
a result. A lock makes concurrent builders of the same thing wait for the first one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

__all__ = ["CacheError", "CacheWarning", "cache_directory", "content_key", "obtain", "run_directory", "whole"]

_MANIFEST = ".manifest.json"  # of an entry: the hash of each file
DAY = 24 * 3600.0
KEEP_BUILDS = 30 * DAY  # since the last use
KEEP_RUNS = 2 * DAY  # logs of simulation runs


def cache_directory() -> Path:
    """$SYSTOLIQ_CACHE, else $XDG_CACHE_HOME/systoliq, else ~/.cache/systoliq."""
    if named := os.environ.get("SYSTOLIQ_CACHE"):
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "systoliq"


def content_key(*parts: str | bytes) -> str:
    """Return a hash of the parts and of their boundaries."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


class CacheWarning(UserWarning):
    """An entry of the cache was corrupted and is rebuilt."""


class CacheError(OSError):
    """The cache directory cannot be used."""


def obtain(kind: str, key: str, make: Callable[[Path], None]) -> tuple[Path, bool]:
    """Return the folder `kind`/`key`, and whether it was in the cache.

    A corrupted entry raises `CacheWarning` and is rebuilt.

    Parameters
    ----------
    make
        called with an empty folder to fill. If it raises, the folder is removed and the exception passed on.

    Raises
    ------
    CacheError
        if the cache cannot be written.
    """
    shelf = cache_directory() / kind
    target = shelf / key
    if _touch(target) and whole(target):
        return target, True
    with _usable(shelf):
        shelf.mkdir(parents=True, exist_ok=True)
    with _lock(shelf / f".{key}.lock"):
        if _touch(target):
            if whole(target):
                return target, True
            if (target / _MANIFEST).exists():
                warnings.warn(f"the cache's {kind}/{key} was damaged and is made again", CacheWarning, stacklevel=2)
        with _usable(shelf):
            building = Path(tempfile.mkdtemp(prefix=".building-", dir=shelf))
        try:
            make(building)
            with _usable(shelf):
                (building / _MANIFEST).write_text(json.dumps(_contents(building)))
                building.chmod(0o755)  # mkdtemp's 0700 would shut out others in a shared cache
                _remove(target)
                try:
                    building.rename(target)
                except OSError:
                    if not whole(target):  # a builder that the lock did not hold (a network file system) was faster
                        raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
        _prune(shelf, KEEP_BUILDS)
    return target, False


def whole(folder: Path) -> bool:
    """True if the entry `folder` still has exactly its original content."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text())
        return bool(manifest == _contents(folder, manifest))
    except (OSError, ValueError, TypeError):
        return False


def _contents(folder: Path, names: Iterable[str] | None = None) -> dict[str, str]:
    """Hashes of the files in `folder`, or of those named, by name. A manifest is left out; it may be a copy."""
    if names is None:
        files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / _MANIFEST)
        names = (str(path.relative_to(folder)) for path in files)
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _remove(target: Path) -> None:
    """Remove an entry: file, link or folder."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        target.unlink()
    elif target.exists():
        gone = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
        target.rename(gone / "old")
        shutil.rmtree(gone, ignore_errors=True)


@contextlib.contextmanager
def _usable(shelf: Path) -> Iterator[None]:
    """Turn an OSError into a CacheError, which suggests a fix."""
    try:
        yield
    except OSError as error:
        text = f"the cache cannot be used ({error.strerror}): SYSTOLIQ_CACHE may name another directory"
        raise CacheError(error.errno, text, str(shelf)) from error


def run_directory() -> Path:
    """Create a folder for the log and results of one run; such folders are kept for two days."""
    shelf = cache_directory() / "runs"
    with _usable(shelf):
        shelf.mkdir(parents=True, exist_ok=True)
        _prune(shelf, KEEP_RUNS)
        return Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=shelf))


def _touch(target: Path) -> bool:
    try:
        os.utime(target)
    except PermissionError:  # a cache that is shared read-only
        return target.is_dir()
    except OSError:
        return False
    return True


def _prune(shelf: Path, keep: float) -> None:
    """Remove entries that were not used for `keep` seconds, and leftovers of killed builders after a day."""
    now = time.time()
    with os.scandir(shelf) as items:  # there may be thousands
        for item in items:
            with contextlib.suppress(OSError):  # another process may be removing it too
                age = now - item.stat().st_mtime
                if age > (DAY if item.name.startswith(".") else keep) and item.is_dir():
                    shutil.rmtree(item.path, ignore_errors=True)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    try:
        import fcntl  # not on every system; without it builders only do the work twice
    except ImportError:
        yield
        return
    with _usable(path.parent):
        file = path.open("w")
    with file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
