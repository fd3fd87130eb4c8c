"""The commands for boards: bad input is one line, and leaves nothing."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.board.boards import BOARDS

BITSTREAM = ("bitstream", "resnet8-fc", "--board", "ulx3s-85f", "--out")


def test_the_list_has_all_boards(call):
    result = call("board", "list")
    assert result.exit_code == 0
    assert all(name in result.output and board.title in result.output for name, board in BOARDS.items())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("bitstream digits --board arty --out o", f"board must be one of {', '.join(BOARDS)}, not 'arty'"),
        (
            "bitstream engine --board icebreaker --out o",
            "SOURCE must be a layer or a network where a board is meant",
        ),
        (
            "bitstream array --board icebreaker --out o",
            "SOURCE must be a layer or a network where a board is meant",
        ),
        ("bitstream resnet8-fc --board icebreaker --cells ecp5 --out o", "cells must be one of portable, ice40"),
        ("bitstream resnet8-fc --board icebreaker --out taken", "taken: must be new, empty or written by systoliq"),
        (
            "bitstream resnet8-fc --board icebreaker --baud 1 --out o",
            "baud must be 733 to 12000000 at 48.000 MHz, not 1",
        ),
        ("bitstream resnet8-fc --board icebreaker --mhz 5 --out o", "mhz must be 12 to 270 on 1BitSquared iCEBreaker"),
        ("board run --port nowhere --input a.npz", "port must be a serial port; nowhere does not exist"),
        ("board run --port /dev/null --input a.npz", "port must be a serial port, not /dev/null"),
        ("board run --port a.npz --input a.npz", "port must be a serial port, not a.npz"),
        ("board run --port nowhere --input a.npz --baud 7", "baud must be one of 9600"),
        ("board run --port nowhere --input a.npz --output no/y.npz", "output: the directory"),
        ("board simulate engine", "SOURCE must be a layer or a network where a board is meant, not engine"),
        ("board simulate resnet8-fc --link a.npz", "link must be a new file; a.npz exists"),
        ("board simulate resnet8-fc --link no/board", "link: the directory"),
        ("board simulate resnet8-fc --board arty", "board must be one of"),
    ],
)
def test_bad_input_is_one_line(arguments, text, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", a=np.zeros((1, 64), np.int8))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "theirs").touch()
    before = sorted(tmp_path.rglob("*"))
    result = call(*arguments.split())
    assert result.exit_code == 2
    assert result.output.splitlines()[-1].startswith("error: ")
    assert text in result.output
    assert "Traceback" not in result.output
    assert sorted(tmp_path.rglob("*")) == before


def test_a_serial_port_without_a_board_is_one_line(call, save):
    import os
    import pty

    ours, other = pty.openpty()
    try:
        rows = save("a.npz", a=np.zeros((1, 64), np.int8))
        result = call("board", "run", "--port", os.ttyname(other), "--input", rows, "--seconds", "0.01")
        text = "error: no right answer came in 5 attempts: nothing came in time (5 times)\n"
        assert (result.exit_code, result.output) == (1, text)
    finally:
        os.close(ours)
        os.close(other)


@pytest.mark.slow
def test_without_amaranth_boards_the_extra_is_named(call, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "amaranth_boards.ulx3s", None)
    result = call(*BITSTREAM, tmp_path / "o")
    assert result.exit_code == 1
    assert "pip install 'systoliq[board]'" in result.output
    assert not (tmp_path / "o").exists()
