"""`systoliq doctor`: it looks where the commands look, and names what is missing with what brings it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from systoliq.sim.tools import Tool


@pytest.mark.parametrize(
    ("missing", "status", "text"),
    [
        ({"icarus", "yosys"}, 0, "Simulations can run under Verilator"),
        ({"c++"}, 0, "Simulations can run under Icarus"),
        (set(), 0, "Simulations can run under Verilator and Icarus"),
        ({"verilator", "icarus"}, 1, "No simulation can run: no simulator has all the tools that it needs"),
        ({"libpython"}, 1, "No simulation can run: no simulator has all the tools that it needs"),
    ],
)
def test_the_doctor_names_missing_tools(missing, status, text, call, monkeypatch):
    def look(name):
        found = None if name in missing else Path(name)
        return Tool(name=name, purpose="this and that", hint=f"apt-get install {name}", path=found, version="1")

    names = ("verilator", "c++", "libpython", "icarus")
    monkeypatch.setattr("systoliq.cli.doctor.all_tools", lambda: tuple(map(look, names)))
    monkeypatch.setattr("systoliq.cli.doctor.synthesis_tools", lambda: (look("yosys"),))
    monkeypatch.setattr("systoliq.sim.tools.find", look)
    result = call("doctor")
    assert result.exit_code == status
    assert result.stdout.splitlines()[-1] == text
    for name in (*names, "yosys"):
        line = rf"^{re.escape(name)} +missing: apt-get install {re.escape(name)}"
        assert bool(re.search(line, result.stdout, re.MULTILINE)) == (name in missing)


def test_the_doctor_looks_where_the_commands_look(call, monkeypatch):
    """Yosys, nextpnr and the solver are packages: a Yosys of the system on PATH is not what runs."""
    find = importlib.util.find_spec
    absent = ("pyosys", "bitwuzla")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in absent else find(name, *rest))
    monkeypatch.setattr("systoliq.synth.tools.os", SimpleNamespace(access=lambda *_: False, X_OK=os.X_OK))
    which = SimpleNamespace(which=lambda name: f"/usr/bin/{name}" if name == "yosys" else None)
    monkeypatch.setattr("systoliq.synth.tools.shutil", which)
    lines = {line.split()[0]: line for line in call("doctor").stdout.splitlines()}
    for name in ("yosys", "nextpnr-ecp5", "nextpnr-ice40", "nextpnr-gowin"):
        assert "missing: pip install 'systoliq[synth]'" in lines[name]
    for name in absent:
        assert "missing: pip install 'systoliq[formal]'" in lines[name]


def test_the_doctor_names_versions(call):
    pytest.importorskip("pyosys")
    lines = {line.split()[0]: line for line in call("doctor").stdout.splitlines()}
    assert f"pyosys {importlib.metadata.version('pyosys')}" in lines["yosys"]
    assert f"pyosys {importlib.metadata.version('pyosys')}" in lines["pyosys"]
