"""Entries of the cache that nobody has used for long: they go when another is made, and others stay."""

from __future__ import annotations

import os
import time

import pytest

from systoliq.sim import cache


def aged(path, days):
    """Make an entry that was last used `days` ago."""
    path.mkdir(parents=True)
    (path / "file").write_text("x")
    last = time.time() - days * cache.DAY
    os.utime(path, (last, last))


@pytest.fixture(autouse=True)
def shelves(tmp_path, monkeypatch):
    monkeypatch.setenv("SYSTOLIQ_CACHE", str(tmp_path))


def test_builds_go_after_30_days_and_what_killed_builders_left_after_one(tmp_path):
    shelf = tmp_path / "things"
    for name, days in {"used": 29, "unused": 31, ".building-now": 0.9, ".building-killed": 1.1}.items():
        aged(shelf / name, days)
    (shelf / "file").write_text("y")
    os.utime(shelf / "file", (0, 0))
    made, known = cache.obtain("things", "new", lambda folder: (folder / "file").write_text("z"))
    assert (made.name, known) == ("new", False)
    assert {each.name for each in shelf.iterdir()} == {"used", ".building-now", "file", "new"}


def test_runs_go_after_two_days(tmp_path):
    for name, days in {"new": 1.9, "old": 2.1}.items():
        aged(tmp_path / "runs" / name, days)
    made = cache.run_directory()
    assert {each.name for each in (tmp_path / "runs").iterdir()} == {"new", made.name}
