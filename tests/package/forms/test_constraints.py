"""The timing constraints of a package, run by a Tcl interpreter: each port is constrained once, by one clock."""

from __future__ import annotations

import json
import re

import pytest

from ..kinds import KINDS
from .written import RESERVED, written

tkinter = pytest.importorskip("tkinter", reason="apt-get install python3-tk")


def constraints(path, before=""):
    """What the commands of the file at `path` were called with: (command, arguments), get_ports by its names."""
    tcl = tkinter.Tcl()
    called = []

    def command(name):
        def record(*arguments):
            called.append((name, *arguments))
            return ""

        tcl.createcommand(name, record)

    for name in ("create_clock", "set_input_delay", "set_output_delay"):
        command(name)
    tcl.eval("proc get_ports {names} { return $names }")
    tcl.eval(before)
    tcl.eval(path.read_text())
    return called


@pytest.mark.parametrize("suffix", [".sdc", ".xdc"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_port_once(kind, suffix, tmp_path):
    name, folder = written(kind, tmp_path)
    ports = json.loads((folder / f"{name}.json").read_text())["ports"]
    clock, inputs, outputs = constraints(folder / f"{name}{suffix}")
    assert clock == ("create_clock", "-name", "clk", "-period", "10.0", "clk")
    for called, command, direction in ((inputs, "set_input_delay", "input"), (outputs, "set_output_delay", "output")):
        assert called[:-1] == (command, "-clock", "clk", "2.0")
        wanted = [
            each["name"] + ("[*]" if each["width"] > 1 else "") for each in ports if each["direction"] == direction
        ]
        assert called[-1].split() == [each for each in wanted if each != "clk"]


def test_another_period(tmp_path):
    name, folder = written("array", tmp_path)
    clock, inputs, _ = constraints(folder / f"{name}.sdc", before=f"set {name}_period 4")
    assert (clock[4], inputs[3]) == ("4", "0.8")
    text = (folder / f"{name}.xdc").read_text()
    assert not re.search(r"^\s*(if|foreach|proc)\b", text, re.MULTILINE), "XDC has no control structures"


@pytest.mark.parametrize("name", RESERVED)
def test_words_of_tcl_are_names_all_the_same(name, tmp_path):
    _, folder = written("array", tmp_path, name=name)
    assert len(constraints(folder / f"{name}.sdc")) == 3
