"""Energy in standard cells: by hand from a library's tables, against OpenSTA, and of a layer in a replayed netlist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.api import InputError, LayerDesign, LayerOptions, MatMulLayer
from systoliq.cli.main import cli
from systoliq.errors import SynthesisError
from systoliq.synth import open_target, synthesize
from systoliq.synth.cell_netlist import CORE, CellNetlist
from systoliq.synth.energy import energy_of
from systoliq.synth.flow import synthesized
from systoliq.synth.liberty import read_figures
from systoliq.synth.standard_cells import read_library
from systoliq.synth.toggles import Toggles
from systoliq.synth.tools import find_yosys
from systoliq.synth.yosys import top_of

from ..support.standard_cells import OSU018, liberty, needs_osu018, needs_sta
from .bare_arrays import bare_array
from .small_designs import SMALL

LIBRARY = """
library (hand) { /* loads in fF, times in 10 ps */
  time_unit : "10ps"; capacitive_load_unit (1, ff); nom_voltage : 2;
  lu_table_template (two) { variable_1 : total_output_net_capacitance; variable_2 : input_net_transition;
    index_1 ("0, 100"); index_2 ("50, 150"); }
  power_lut_template (energy) { variable_1 : input_transition_time; index_1 ("50, 150"); }
  cell (NAND2) { cell_leakage_power : 3;
    pin (A) { direction : input; capacitance : 10; }
    pin (B) { direction : input; capacitance : 20; }
    pin (Y) { direction : output; function : "!(A & B)";
      timing () { related_pin : "A B"; timing_sense : negative_unate;
        cell_rise (two) { values ("10, 20", "30, 60"); } rise_transition (two) { values ("50, 60", "70, 80"); }
        cell_fall (two) { values ("10, 10", "10, 10"); } fall_transition (two) { values ("60, 60", "60, 60"); } }
      internal_power () { related_pin : "A";
        rise_power (two) { values ("4, 8", "6, 10"); } fall_power (two) { values ("1, 1", "1, 1"); } }
      internal_power () { related_pin : "B";
        rise_power (two) { values ("2, 4", "2, 4"); } fall_power (two) { values ("3, 3", "3, 3"); } } } }
  cell (DFF) { cell_leakage_power : 5; ff (IQ, IQN) { clocked_on : "C"; next_state : "D"; }
    pin (C) { direction : input; clock : true; capacitance : 40;
      internal_power () { rise_power (energy) { values ("7, 9"); } fall_power (energy) { values ("11, 9"); } } }
    pin (D) { direction : input; capacitance : 30;
      internal_power () { power (energy) { values ("1, 3"); } } }
    pin (Q) { direction : output; function : "IQ";
      timing () { related_pin : "C"; timing_type : rising_edge;
        cell_rise (two) { values ("10, 10", "20, 20"); } rise_transition (two) { values ("50, 50", "100, 100"); }
        cell_fall (two) { values ("10, 10", "20, 20"); } fall_transition (two) { values ("75, 75", "75, 75"); } }
      internal_power () { related_pin : "C";
        rise_power (two) { values ("5, 5", "15, 15"); } fall_power (two) { values ("2, 2", "2, 2"); } } } } }
"""
A, CLOCK, N, Q = 2, 3, 4, 5
TOP = {
    "ports": {
        "clk": {"direction": "input", "bits": [CLOCK]},
        "a": {"direction": "input", "bits": [A]},
        "y": {"direction": "output", "bits": [Q, "0"]},
    },
    "cells": {
        "gate": {"type": "NAND2", "connections": {"A": [A], "B": [Q], "Y": [N]}},
        "register": {"type": "DFF", "connections": {"C": [CLOCK], "D": [N], "Q": [Q]}},
    },
}


def test_two_cells_by_hand() -> None:
    """Each figure from the tables above, in fJ (V^2 * fF), as exact fractions."""
    netlist = CellNetlist.of(TOP, read_figures(LIBRARY))
    counted = Toggles(cycles=10, edges={"rise": {A: 3, N: 2, Q: 1}, "fall": {A: 2, N: 3, Q: 1}})
    found = energy_of(netlist, counted, inferences=2, macs=7)
    half = Fraction(2**2, 2)
    # Q, with a load of 20 fF, rises in 50 + 20 / 100 * 50 = 60 and falls in 75; N rises, as the slower of A's fall in
    # 50 and Q's in 75 says, at a load of 30 fF in 50 + .3 * 20 + 10 / 4; it falls in 60. Ports take 50.
    rise_of_n = Fraction("58.5")
    pin_c = 10 * (7 + 11)
    pin_d = 2 * (1 + (rise_of_n - 50) / 50) + 3 * (1 + Fraction(10, 50))
    pin_q = (5 + Fraction(20, 100) * 10) + 2
    by_a, by_b = Fraction(4) + Fraction(3, 10) * 2, Fraction(2) + Fraction(25, 100) * 2  # a rise of N
    weight_a, weight_b = Fraction(5, 7), Fraction(2, 7)
    pin_y = 2 * (weight_a * by_a + weight_b * by_b) + 3 * (weight_a * 1 + weight_b * 3)
    clock = half * 40 * 20 + pin_c
    registers = half * 20 * 2 + pin_d + pin_q
    logic = half * 10 * 5 + half * 30 * 5 + pin_y
    figures = (found.clock, found.registers, found.logic)
    assert figures == pytest.approx([float(each) / 1000 for each in (clock, registers, logic)], rel=1e-12)
    without = clock + registers + logic - pin_y
    assert found.least == pytest.approx(float(without + 2 * by_b + 3 * 1) / 1000, rel=1e-12)
    assert found.most == pytest.approx(float(without + 2 * by_a + 3 * 3) / 1000, rel=1e-12)
    assert (found.leakage, found.as_json()["pj_per_mac"]) == (0.008, round(found.total / 14, 3))
    assert netlist.timing.longest == pytest.approx(
        # Q's delay of 10 + .2 * 10, and N's mean: of a rise after A's 50 and Q's 75, at 30 fF
        float(12 + (Fraction(16) + (16 + Fraction(25, 100) * (10 + Fraction(3, 10) * 20))) / 2) / 100
    )


@needs_osu018
@needs_sta
def test_switching_slopes_and_energies_are_opensta_s(tmp_path: Path) -> None:
    """OpenSTA 2.0.17 takes no toggles of single nets, so all nets toggle alike. Its energy within a cell is that of a
    rise and a fall for each of them, which later versions halve; cells whose inputs it weighs otherwise are left out.
    """
    design = bare_array("portable", **SMALL)
    library = read_library(OSU018, find_yosys())
    folder = synthesized(design.verilog, design.name, open_target("osu018"), library=library, mhz=300)
    netlist = CellNetlist.of(top_of(folder), read_figures(OSU018.read_text()))
    found = {number: figures for number, *figures in _by_opensta(netlist, tmp_path)}
    assert len(found) == len(netlist.instances) > 500
    nets = {net for each in netlist.instances for net in each.nets.values() if isinstance(net, int)}
    edges = {edge: dict.fromkeys(nets, 200) for edge in ("rise", "fall")}  # 0.4 a cycle
    alike = {"BUFX2", "AND2X2", "OR2X2", "XNOR2X1"}
    compared = set()
    for number, instance in enumerate(netlist.instances):
        alone = CellNetlist(library=netlist.library, instances=[instance], inputs=netlist.inputs, outputs={})
        alone.__dict__.update(loads=netlist.loads, timing=netlist.timing)
        inside = energy_of(alone, Toggles(cycles=1000, edges=edges), inferences=1, macs=1)
        switched = 0.5 * 1.8**2 * sum(netlist.loads.get(net, 0) * 400 for _, _, net in instance.outputs())
        internal, switching = found[number]
        assert switched == pytest.approx(switching, rel=0.015), instance.kind  # it takes a pin's capacitance by edge
        if instance.kind in alike:
            loads = 0.5 * 1.8**2 * sum(netlist.loads.values()) * 400
            loads += 0.5 * 1.8**2 * netlist.loads[netlist.clock] * (2000 - 400)
            assert 2 * (inside.total - loads) == pytest.approx(internal, rel=0.01), instance.kind
            compared.add(instance.kind)
    assert compared == alike


def _by_opensta(netlist: CellNetlist, folder: Path) -> list[tuple[int, float, float]]:
    """Internal and switching energy (pJ) of each instance in 1000 cycles with 0.4 toggles a cycle."""
    (folder / "netlist.v").write_text(re.sub(r"delayed_(\w+) #\(.*?\) c", r"\1 c", netlist.verilog()))
    ports = [f"p_{name}_{at}" for name, bits in netlist.inputs.items() for at in range(len(bits)) if name != "clk"]
    script = f"""
        read_liberty {OSU018}
        read_verilog netlist.v
        link_design {CORE}
        create_clock -name clk -period 10 p_clk_0
        set_clock_transition 0.06 clk
        set_input_delay 0 -clock clk [get_ports {{{" ".join(ports)}}}]
        set_input_transition 0.06 [get_ports {{{" ".join(ports)}}}]
        set_power_activity -global -activity 0.4 -duty 0.5
        report_power -instances [get_cells *] -digits 9
    """
    (folder / "power.tcl").write_text(script)
    command = [str(shutil.which("sta")), "-exit", "power.tcl"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^\s*(\S+)\s+(\S+)\s+\S+\s+\S+ c(\d+)$", said, re.MULTILINE)
    picojoules = 1000 * 10e-9 * 1e12
    return [(int(row[2]), float(row[0]) * picojoules, float(row[1]) * picojoules) for row in rows]


RNG = np.random.default_rng(5)
LAYER = {
    "b": RNG.integers(-128, 128, (4, 2)).astype(np.int8), "a_scale": np.float32(0.02), "a_zero_point": np.int8(0),
    "b_scale": np.float32(0.01), "b_zero_point": np.int8(0), "y_scale": np.float32(0.05), "y_zero_point": np.int8(3),
}  # fmt: skip
ROWS = RNG.integers(-128, 128, (3, 4)).astype(np.int8)


def small_layer() -> LayerDesign:
    return LayerDesign(MatMulLayer(**LAYER), LayerOptions(rows=1, cols=1, requantizer="auto"))


@pytest.mark.slow
@needs_osu018
def test_a_layer_and_a_wrong_netlist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "layer.npz", **LAYER)
    np.savez(tmp_path / "a.npz", a=ROWS)
    line = ["synth", str(tmp_path / "layer.npz"), "--rows", "1", "--cols", "1", "--requantizer", "auto"]
    line += ["--target", "osu018", "--energy", str(tmp_path / "a.npz"), "--report", str(tmp_path / "r.json")]
    result = CliRunner().invoke(cli, line)
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "r.json").read_text())
    figures, design = report["energy"], small_layer()
    assert f"{figures['total_pj']:.0f} pJ an inference" in result.output
    assert (figures["inferences"], figures["macs"], figures["cycles"]) == (3, 8, design.cycles(3))
    parts = figures["clock_pj"] + figures["registers_pj"] + figures["logic_pj"]
    assert figures["total_pj"] == pytest.approx(parts, abs=0.2)
    assert figures["least_pj"] < figures["total_pj"] < figures["most_pj"]
    each = figures["clock_pj"] * figures["inferences"] / (report["ff"] * figures["cycles"])
    # Of a DFFPOSX1 in a cycle: 0.0279235 pF at 1.8 V, and the table's 0.006865 and 0.11034 pJ at 0.06 ns.
    assert each == pytest.approx(0.0279235 * 1.8**2 + 0.006865 + 0.11034, rel=0.02)
    still = synthesize(design, "osu018", breakdown=False, energy={"a": np.zeros_like(ROWS)}).energy
    assert still is not None
    assert (round(still.clock / 3, 1), still.cycles) == (figures["clock_pj"], figures["cycles"])
    assert still.logic / 3 < figures["logic_pj"] / 2
    right = CellNetlist.verilog
    wrong = lambda netlist: right(netlist).replace("delayed_NOR2X1", "delayed_NAND2X1", 9)  # noqa: E731
    monkeypatch.setattr(CellNetlist, "verilog", wrong)
    with pytest.raises(SynthesisError, match=r"the netlist's outputs differ from the design's in cycle \d+"):
        synthesize(design, "osu018", breakdown=False, energy={"a": ROWS})


def test_what_has_no_energy(tmp_path: Path) -> None:
    design, operands = small_layer(), {"a": ROWS}
    with pytest.raises(InputError, match=r"energy must be asked for standard cells.*energies of .* ecp5-85k"):
        design.synthesize("ecp5-85k", energy=operands)
    with pytest.raises(InputError, match=r"a target of gates has none: give --target generic --liberty FILE"):
        design.synthesize("cmos4", energy=operands)
    (tmp_path / "small.lib").write_text(liberty())
    with pytest.raises(InputError, match=r"the Liberty file must have internal_power groups for energy"):
        design.synthesize("generic", liberty=tmp_path / "small.lib", energy=operands)
    np.savez(tmp_path / "ab.npz", a=np.zeros((1, 1), np.int8), b=np.zeros((1, 1), np.int8))
    line = ["synth", "array", "--rows", "1", "--cols", "1", "--target", "osu018", "--energy", str(tmp_path / "ab.npz")]
    result = CliRunner().invoke(cli, line)
    assert result.exit_code == 2
    assert "energy must be asked for a layer's rows or a network's images, not for the source array" in result.output
