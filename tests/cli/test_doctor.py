"""`systoliq doctor`: it looks where the commands look, and names what is missing with what brings it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from types import SimpleNamespace

import pytest


def test_the_doctor_names_missing_tools(call, monkeypatch):
    from systoliq.sim.tools import Tool

    tools = (Tool(name="icarus", purpose="the second simulator", hint="apt-get install iverilog"),)
    monkeypatch.setattr("systoliq.cli.doctor.all_tools", lambda: tools)
    result = call("doctor")
    assert result.exit_code == 1
    assert re.search(r"^icarus +missing: apt-get install iverilog", result.stdout, re.MULTILINE)


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
