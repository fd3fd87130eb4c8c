"""Hostile calls: each ends with its status and in one line, and leaves its folder as it was."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

import pytest

from .hostile import CALLS, fill


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    fill(made)
    return made


def contents(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Kind, size and time of all that is in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        found[str(path.relative_to(folder))] = (about.st_mode, about.st_ino, about.st_mtime_ns)
    return found


def devices() -> list[tuple[int, int]]:
    """Kind and number of the device nodes that calls name."""
    return [
        (stat.S_IFMT(each.st_mode), each.st_rdev) for each in map(os.lstat, ("/dev/null", "/dev/zero", "/dev/full"))
    ]


def test_there_are_enough():
    assert len({call for call, _, _ in CALLS}) == len(CALLS) >= 200


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("line", "status", "text"), CALLS, ids=[call[:60] for call, _, _ in CALLS])
def test_a_hostile_call(line, status, text, call, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before, nodes = contents(folder), devices()
    result = call(*shlex.split(line))
    assert devices() == nodes
    assert contents(folder) == before
    assert result.exit_code == status, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit) or status == 0
    if text is not None:
        last = result.stderr.splitlines()[-1]
        assert last.startswith("error: "), result.stderr
        assert text in last
        assert [each for each in result.stderr.splitlines()[:-1] if not each.startswith(("note: ", "design "))] == []
