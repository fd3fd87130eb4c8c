"""The output directory: whole or not at all, and nobody else's files are touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from systoliq.errors import InputError
from systoliq.package.output import write_output

OURS = {"old.v": b"old", "old.json": json.dumps({"generator": "systoliq", "files": {"old.v": "Verilog"}}).encode()}
NEW = {"new.v": b"new", "new.json": json.dumps({"generator": "systoliq", "files": {"new.v": "Verilog"}}).encode()}


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_new_directory_and_its_parents(tmp_path):
    write_output(tmp_path / "a" / "b", NEW)
    assert contents(tmp_path / "a" / "b") == NEW
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_an_empty_directory(tmp_path):
    (tmp_path / "out").mkdir()
    write_output(tmp_path / "out", NEW)
    assert contents(tmp_path / "out") == NEW


def test_files_of_systoliq_are_replaced_and_others_stay(tmp_path):
    out = tmp_path / "out"
    write_output(out, OURS)
    (out / "t").write_bytes(b"compiled")
    write_output(out, NEW)
    assert contents(out) == {**NEW, "t": b"compiled"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["thesis.tex", "package.json"])
def test_a_directory_with_other_files_is_refused(tmp_path, name):
    (tmp_path / name).write_text('{"generator": "npm"}')
    with pytest.raises(InputError, match="must be new, empty or written by systoliq"):
        write_output(tmp_path, NEW)
    assert contents(tmp_path) == {name: b'{"generator": "npm"}'}


def test_a_file_that_systoliq_did_not_write_is_not_overwritten(tmp_path):
    out = tmp_path / "out"
    write_output(out, OURS)
    (out / "new.v").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"must not hold a new\.v that systoliq did not write"):
        write_output(out, NEW)
    assert contents(out) == {**OURS, "new.v": b"mine"}


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_is_no_directory(tmp_path, below):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="must be a directory, but .*file is a file"):
        write_output(tmp_path / "file" / below, NEW)


@pytest.mark.parametrize("before", [None, OURS])
def test_a_failure_changes_nothing(tmp_path, monkeypatch, before):
    out = tmp_path / "out"
    if before:
        write_output(out, before)

    def fail(path: Path, content: bytes) -> int:
        if path.name == "new.json":
            raise OSError(28, "No space left on device", str(path))
        with path.open("wb") as file:
            return file.write(content)

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space left"):
        write_output(out, NEW)
    assert [path.name for path in tmp_path.iterdir()] == (["out"] if before else [])
    assert not before or contents(out) == before


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_output(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "real") == NEW
