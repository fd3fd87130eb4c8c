"""Synthesis as a whole, on small designs: figures, refusals, and the netlist against the layer's golden vectors."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from systoliq.cli.main import cli
from systoliq.design import LayerDesign, LayerOptions, NetworkOptions
from systoliq.design.sources import open_source, resnet8_fc_layer
from systoliq.golden.formats import IntFormat
from systoliq.package import make_package
from systoliq.synth import DoesNotFitError, netlist_sources, open_target, synthesize

from ..support.standard_cells import liberty
from .bare_arrays import bare_array

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed"),
]


def test_report_of_an_ecp5_array() -> None:
    report = synthesize(bare_array("ecp5", rows=2, cols=2), "ecp5-25k", seeds=(1,))
    figures = report.as_json()
    assert figures["dsp"] == 4
    assert figures["ram"] == 0
    assert 100 < figures["lut_sites"] < 300
    assert figures["fmax_mhz"] == figures["fmax_mhz_per_seed"][0] > 200
    assert figures["critical_path"]["blocks"]


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(DoesNotFitError, match="needs 36 DSP blocks where there are 28"):
        synthesize(bare_array("ecp5", rows=6, cols=6), "ecp5-25k", seeds=(1,))


def test_unknown_targets_are_named() -> None:
    with pytest.raises(ValueError, match="target must be one of ecp5-25k"):
        synthesize(bare_array("portable"), "spartan")


def test_ports_beyond_the_pins_are_left_open() -> None:
    few = {"accumulator_bits": 8, "a": IntFormat.parse("int4"), "b": IntFormat.parse("int4")}
    assert synthesize(bare_array("ice40", **few), "ice40-up5k", seeds=(1,)).open_ports == 0
    report = synthesize(bare_array("ice40", depth=2), "ice40-up5k", seeds=(1,))
    assert report.open_ports > 39
    assert report.dsp == 1  # two products
    assert report.fmax_mhz is not None
    assert report.fmax_mhz > 24


def test_an_ice40_cell_accumulates() -> None:
    report = synthesize(bare_array("ice40"), "ice40-up5k", seeds=(1,))
    assert (report.dsp, report.carries) == (1, 0)


@pytest.mark.parametrize(("target", "dsp"), [("ice40-hx8k", 0), ("xilinx-xc7", 1), ("xilinx-xcup", 1), ("generic", 0)])
def test_other_targets(target: str, dsp: int) -> None:
    size = {"rows": 1, "cols": 1, "accumulator_bits": 24}
    report = synthesize(bare_array("portable", **size), target, seeds=(1,))
    assert report.dsp == dsp
    assert report.ff > 30
    assert (report.lut_sites > 0) == (target != "generic")
    assert (report.fmax_mhz is not None) == (target == "ice40-hx8k")
    assert (report.gates is not None) == (target == "generic")


@pytest.mark.parametrize("cells", ["portable", "family"])
@pytest.mark.parametrize(("target", "beyond"), [("ecp5-25k", 2), ("ice40-up5k", 10)])
def test_sites_before_placement_are_those_after_it(target: str, beyond: int, cells: str) -> None:
    """Carry chains, memory in LUTs and registers alone included; nextpnr adds constants and a few ends of carries."""
    layer, _ = resnet8_fc_layer()
    device = open_target(target)
    design = LayerDesign(
        layer, LayerOptions(cols=2, depth=2, cells="portable" if cells == "portable" else device.cells)
    )
    before = design.synthesize(dataclasses.replace(device, place=()), seeds=())
    after = design.synthesize(device, seeds=(1,))
    assert before.carries > 50
    assert 0 <= after.lut_sites - before.lut_sites <= beyond


def test_area_in_the_cells_of_a_liberty_file(tmp_path: Path) -> None:
    file = tmp_path / "small.lib"
    file.write_text(liberty())
    array = bare_array("portable", rows=1, cols=1, accumulator_bits=24)
    report = synthesize(array, "generic", liberty=file)
    assert report.area is not None
    assert report.gates is not None
    assert report.gates < report.area < 6 * report.gates
    assert report.ff > 30
    with pytest.raises(ValueError, match="liberty cannot be used with ice40-up5k"):
        synthesize(bare_array("portable"), "ice40-up5k", liberty=file)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.parametrize("family", ["ecp5", "ice40", "gowin"])
def test_simulate_runs_the_netlist(small: tuple[Path, Path], tmp_path: Path, family: str) -> None:
    source, given = small
    arguments = ["--input", given, "--netlist", family, "--cols", 2, "--stalls", 0.3, "--simulator", "icarus"]
    result = call("simulate", source, *arguments, "--report", tmp_path / "r.json")
    assert result.exit_code == 0, (result.output, result.exception)
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["outputs"], report["mismatches"], report["netlist"]) == (45, 0, family)
    assert report["array"]["cells"] == family


def test_cells_must_suit_the_family(small: tuple[Path, Path]) -> None:
    result = call("simulate", small[0], "--input", small[1], "--netlist", "ecp5", "--cells", "ice40")
    assert result.exit_code != 0
    assert "cells must be one of portable, ecp5" in result.output


def test_a_missing_yosys_is_named(small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pyosys" else real(name, *rest)
    )
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, *rest: "yowasp" not in str(path) and access(path, *rest))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    result = call("simulate", small[0], "--input", small[1], "--netlist", "ecp5")
    assert result.exit_code != 0
    assert "pip install 'systoliq[synth]'" in result.output


@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.parametrize("family", ["ecp5", "ice40", "gowin"])
def test_emitted_vendor_cells_bring_their_models(small: tuple[Path, Path], tmp_path: Path, family: str) -> None:
    out = tmp_path / "out"
    result = call("emit", small[0], "--out", out, "--cells", family, "--name", "fc")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "leave this file out of" in (out / "fc_models.v").read_text().replace("\n", " ")
    assert "leave it out of synthesis" in json.loads((out / "fc.json").read_text())["files"]["fc_models.v"]
    subprocess.run(["iverilog", "-g2005", "-o", "t", *map(str, out.glob("*.v"))], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "PASS" in log, log
    assert call("verify", out).exit_code == 0


@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.usefixtures("short_testbenches")
@pytest.mark.parametrize(("family", "depth"), [("ecp5", 8), ("ice40", 4), ("ice40", 1)])
def test_netlist_is_bit_exact(tmp_path: Path, family: str, depth: int) -> None:
    options = LayerOptions(rows=1, cols=2, depth=depth, requantizer="auto", cells=family)
    layer, origin = resnet8_fc_layer()
    design = LayerDesign(layer, options, name="fc", origin=origin)
    (testbench,) = (text for name, text in make_package(design).files.items() if name.endswith("_tb.v"))
    (tmp_path / "tb.v").write_bytes(testbench)
    for index, text in enumerate(netlist_sources(design.verilog, "fc", family)):
        (tmp_path / f"netlist_{index}.v").write_text(text)
    subprocess.run(["iverilog", "-g2005", "-o", "t", *map(str, tmp_path.glob("*.v"))], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "PASS" in log, log


def test_cells_by_stage_of_a_network() -> None:
    """Every stage has its share, what leads to it included, and all shares together are the design."""
    design = open_source("digits-cnn", NetworkOptions(cells="portable"))
    report = design.synthesize("xilinx-xcup")
    assert set(report.parts) == {stage.node.name for stage in design.plan.stages} | {"edge"}
    for figure in ("lut_sites", "ff", "dsp", "ram"):
        assert sum(part[figure] for part in report.parts.values()) == getattr(report, figure)
    assert report.parts["edge"]["lut_sites"] < report.lut_sites / 50
