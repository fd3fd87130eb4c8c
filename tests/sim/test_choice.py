"""The simulator that `auto` stands for: the one that ends sooner, among those that are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from systoliq.sim.choice import chosen, chosen_for_engine
from systoliq.sim.tools import Tool

SHORT, LONG = 1_000, 1_000_000
ALL = {"verilator", "c++", "icarus", "libpython"}


@pytest.fixture
def installed(monkeypatch):
    """Make `find` find these tools alone."""

    def only(names):
        def find(name):
            return Tool(name=name, purpose="", hint="", path=Path("/x") if name in names else None)

        monkeypatch.setattr("systoliq.sim.tools.find", find)

    return only


@pytest.mark.parametrize(
    ("tools", "run", "expected"),
    [
        (ALL, SHORT, "icarus"),
        (ALL, LONG, "verilator"),
        (ALL - {"icarus"}, SHORT, "verilator"),
        (ALL - {"c++"}, LONG, "icarus"),
        (set(), LONG, "verilator"),  # whose absence is then the error
    ],
)
def test_auto(tools, run, expected, installed):
    installed(tools)
    assert chosen("auto", run) == expected


def test_a_trace_that_only_icarus_writes(installed):
    installed(ALL)
    assert chosen("auto", LONG, Path("t.fst")) == "icarus"
    assert chosen("auto", LONG, Path("t.vcd")) == "verilator"


def test_a_named_one_is_taken(installed):
    installed(set())
    assert (chosen("verilator", SHORT), chosen("icarus", LONG)) == ("verilator", "icarus")
    assert (chosen_for_engine("icarus"), chosen_for_engine("auto")) == ("icarus", "verilator")
