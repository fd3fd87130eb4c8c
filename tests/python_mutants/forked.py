"""Test runs in forked processes: what every run imports, pytest, numpy and Amaranth, is imported once, before.

This process must not import systoliq: each run has its own, from the copy of the tree that it tests.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

import amaranth.sim  # noqa: F401 - see above
import hypothesis  # noqa: F401
import numpy.testing  # noqa: F401
import pytest
from budget import OVER, SECONDS

__all__ = ["failing_test"]

PARTS = ("golden", "hw", "sim", "build")
_NONE_QUICK = 5  # pytest's exit status where there are no tests


def failing_test(tree: Path, tests: list[Path], *, seconds: float, hangs: float) -> str | None:
    """The first of the quick `tests`, files below `tree`, that fails; "time" where one does not end.

    None where all pass, or all that began within so many `seconds` of processor time. A test does not end where the
    run takes `hangs` seconds of it, or ten times that by the clock.
    """
    said, end = tree / "said.txt", time.monotonic() + 10 * hangs
    child = os.fork()
    if child == 0:
        _run(tree, tests, said, seconds, int(hangs))
    try:
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                return "time"
            time.sleep(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError):  # of what it started, too
            os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(ended[1])
    if status in (-signal.SIGKILL, -signal.SIGXCPU):
        return "time"
    text = said.read_text(errors="replace")
    failed = [line.split()[1] for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if failed:
        return failed[0]
    passed = status in (0, _NONE_QUICK) or OVER in text
    return None if passed else "pytest itself"


def _run(tree: Path, tests: list[Path], said: Path, seconds: float, hangs: int) -> None:
    """Run pytest in this process, which ends with it."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (hangs, hangs))
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.chdir(tree)
    # The tree is first, for tests import `tests`, a name that other folders and installed packages have, too.
    parts = [str(tree), *(str(tree / part) for part in PARTS)]
    others = [each for each in sys.path if Path(each).name not in PARTS]
    sys.path[:] = [*parts, *others]
    sys.pycache_prefix = None  # bytecode of a mutant may be of the size and age of another's: `campaign` deletes it
    os.environ.pop("PYTHONPYCACHEPREFIX", None)
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(parts),
        "XDG_CACHE_HOME": str(tree / "cache"),
        SECONDS: str(seconds),
    }
    options = [
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        "-x",
        "-q",
        "--tb=no",
        "-p",
        "budget",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow and not soak",
    ]
    status = 70
    try:
        status = int(pytest.main([*options, *map(str, tests)]))
    except BaseException:  # noqa: BLE001 - nothing may come back into the campaign
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)
