"""`systoliq board load`: the loader that the board names gets the bitstream; errors name the cause in one line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from systoliq.board import load
from systoliq.board.boards import BOARDS
from systoliq.cli.main import cli
from systoliq.errors import MissingPackageError
from systoliq.generator import GENERATOR

from ..cli.refused import assert_refused


def call(folder):
    return CliRunner().invoke(cli, ["board", "load", str(folder)])


@pytest.fixture
def bitstream(tmp_path):
    """Write a bitstream for a board as `systoliq bitstream` does; return its directory."""

    def write(board="ulx3s-85f", **changed):
        folder = tmp_path / "out"
        folder.mkdir()
        (folder / "tiny.bit").write_bytes(b"bits")
        held = {"generator": GENERATOR, "kind": "bitstream", "file": "tiny.bit", "board": board}
        (folder / "report.json").write_text(json.dumps(held | changed))
        return folder

    return write


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Put a loader with this name and script on PATH; return the file with its arguments."""

    def make(name, script="exit 0"):
        folder, said = tmp_path / "bin", tmp_path / "said"
        folder.mkdir()
        (folder / name).write_text(f'#!/bin/sh\necho "$@" > {said}\n{script}\n')
        (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        return said

    return make


@pytest.mark.parametrize("name", BOARDS)
def test_each_board_has_its_loader(name, bitstream, program):
    words = BOARDS[name].load.split()
    said = program(words[0])
    folder = bitstream(name)
    result = call(folder)
    assert result.exit_code == 0, (result.output, result.exception)
    assert said.read_text().split() == [word.replace("{file}", str(folder / "tiny.bit")) for word in words[1:]]
    assert "systoliq board run --port PORT" in result.stdout


def test_the_directory_of_a_build(bitstream, program, tmp_path):
    said = program("openFPGALoader")
    bitstream().rename(tmp_path / "bitstream")
    assert call(tmp_path).exit_code == 0
    assert str(tmp_path / "bitstream/tiny.bit") in said.read_text()


@pytest.mark.parametrize(("script", "text"), [
    ("echo 'unable to open ftdi device: -3' >&2; exit 1", "onto Radiona ULX3S, LFE5U-85F: unable to open ftdi device"),
    ("exit 3", "LFE5U-85F: exit status 3"),
    ("echo 'x: error while loading shared libraries: libusb-1.0.so.0: cannot open' >&2; exit 127",
     "openFPGALoader needs the library libusb-1.0.so.0: apt-get install libftdi1-2"),
])  # fmt: skip
def test_a_loader_that_fails(script, text, bitstream, program):
    program("openFPGALoader", script)
    result = call(bitstream())
    assert result.exit_code == 1
    assert text in result.stderr
    assert result.stderr.count("\n") == 1


def test_directories_without_a_bitstream(bitstream, tmp_path):
    text = "DIR must be a directory with a bitstream that systoliq bitstream or build wrote, not "
    assert_refused(call(tmp_path), text)
    assert_refused(call(tmp_path / "none"), text)
    folder = bitstream(board="none")
    assert_refused(call(folder), "report.json: board must be one of icebreaker, ")
    (folder / "report.json").write_text('{"generator": "x"')
    assert_refused(call(folder), text)


def test_a_bitstream_that_is_lost(bitstream):
    assert_refused(call(bitstream(file="lost.bit")), "must hold the bitstream lost.bit, and does not")


@pytest.mark.parametrize(("board", "hint"), [("ulx3s-85f", "systoliq[board]"), ("orangecrab", "install dfu-util")])
def test_a_missing_loader_says_how_to_install_it(board, hint, bitstream, monkeypatch):
    def missing(*words):
        raise MissingPackageError(words[0])

    monkeypatch.setattr(load, "find_script", missing)
    monkeypatch.setattr(load.shutil, "which", lambda program: None)
    result = call(bitstream(board))
    assert result.exit_code == 1
    assert hint in result.stderr
