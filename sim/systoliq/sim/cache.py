"""Build results kept by content: the same inputs give the same folder, and a folder is complete or not there.

A builder works in a folder of its own and renames it into place, so a failed or killed build leaves nothing that
could be taken for a result; a lock makes concurrent builders of the same thing wait for the first one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["cache_directory", "content_key", "obtain", "run_directory"]

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
    """Hash of the parts and of where each of them ends."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def obtain(kind: str, key: str, make: Callable[[Path], None]) -> tuple[Path, bool]:
    """Give the folder `kind`/`key` and whether it was there before.

    Parameters
    ----------
    make
        called with an empty folder, which it fills; what it raises is passed on, and the folder is removed.
    """
    shelf = cache_directory() / kind
    target = shelf / key
    if _touch(target):
        return target, True
    shelf.mkdir(parents=True, exist_ok=True)
    with _lock(shelf / f".{key}.lock"):
        if _touch(target):
            return target, True
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=shelf))
        try:
            make(building)
            building.chmod(0o755)  # mkdtemp's 0700 would shut out others in a shared cache
            try:
                building.rename(target)
            except OSError:
                if not target.is_dir():  # a builder that the lock did not hold (a network file system) was faster
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
        _prune(shelf, KEEP_BUILDS)
    return target, False


def run_directory() -> Path:
    """Make a new folder for the log and results of one run; such folders are kept for two days."""
    shelf = cache_directory() / "runs"
    shelf.mkdir(parents=True, exist_ok=True)
    _prune(shelf, KEEP_RUNS)
    return Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=shelf))


def _touch(target: Path) -> bool:
    try:
        os.utime(target)
    except FileNotFoundError:
        return False
    except PermissionError:  # a cache that is shared read-only
        return target.is_dir()
    return True


def _prune(shelf: Path, keep: float) -> None:
    """Remove what was not used for `keep` seconds, and what killed builders left a day ago."""
    now = time.time()
    for item in shelf.iterdir():
        with contextlib.suppress(OSError):  # another process may be removing it too
            age = now - item.stat().st_mtime
            if item.is_dir() and age > (DAY if item.name.startswith(".") else keep):
                shutil.rmtree(item, ignore_errors=True)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    try:
        import fcntl  # not on every system; without it builders only do the work twice
    except ImportError:
        yield
        return
    with path.open("w") as file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
