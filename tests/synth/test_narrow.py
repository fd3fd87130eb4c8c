"""Two products to a multiplier, of narrow operands and of bytes: netlists are exact, and take half as many."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from systoliq.cli.main import cli
from systoliq.golden import INT8, IntFormat
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.hw.verilog import emit_verilog
from systoliq.synth.flow import synthesized
from systoliq.synth.targets import open_target
from systoliq.synth.yosys import cell_figures

needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
needs_yosys = pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed")
INT4 = IntFormat.parse("int4")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def narrow(small: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The small layer with weights of 4 bits, the least and the greatest among them; and input for it."""
    with np.load(small[0]) as arrays:
        fields = dict(arrays)
    fields["b"] = np.random.default_rng(1).integers(-8, 8, fields["b"].shape).astype(np.int8)
    fields["b"][0], fields["b"][1], fields["y_scale"] = -8, 7, np.float32(0.01)
    np.savez(tmp_path / "narrow.npz", **fields)
    return tmp_path / "narrow.npz", small[1]


@pytest.fixture
def extreme(small: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The small layer with weights of all 8 bits, the least and the greatest among them; and input for it."""
    with np.load(small[0]) as arrays:
        fields = dict(arrays)
    fields["b"] = np.random.default_rng(2).integers(-128, 128, fields["b"].shape).astype(np.int8)
    fields["b"][0], fields["b"][1] = -128, 127
    np.savez(tmp_path / "extreme.npz", **fields)
    return tmp_path / "extreme.npz", small[1]


def simulate(
    source: Path, given: Path, folder: Path, *options: object, bits: int = 4, simulator: str = "icarus"
) -> dict[str, object]:
    arguments = ["--input", given, "--b-bits", bits, "--rows", 2, "--cols", 3, "--stalls", 0.3]
    result = call("simulate", source, *arguments, "--simulator", simulator, *options, "--report", folder / "r.json")
    assert result.exit_code == 0, (result.output, result.exception)
    report = json.loads((folder / "r.json").read_text())
    assert (report["outputs"], report["mismatches"]) == (45, 0)
    return dict(report)


@pytest.mark.slow
@needs_icarus
@pytest.mark.simulator
@pytest.mark.parametrize("depth", [1, 4])
def test_layer_with_an_odd_column(narrow: tuple[Path, Path], tmp_path: Path, depth: int) -> None:
    report = simulate(*narrow, tmp_path, "--cells", "ecp5-pair", "--depth", depth)
    assert report["array"]["cells"] == "ecp5-pair"  # type: ignore[index]


@needs_icarus
@needs_yosys
@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("family", "cells", "depth"), [("ecp5", "ecp5-pair", 3), ("ecp5", "ecp5-pair", 1), ("xcup", "dsp48e2-pair", 6)]
)
def test_netlist_is_exact(narrow: tuple[Path, Path], tmp_path: Path, family: str, cells: str, depth: int) -> None:
    report = simulate(*narrow, tmp_path, "--netlist", family, "--cells", cells, "--depth", depth)
    assert report["netlist"] == family


@needs_icarus
@needs_yosys
@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
@pytest.mark.parametrize("depth", [1, 3])
def test_netlist_of_bytes_is_exact(extreme: tuple[Path, Path], tmp_path: Path, simulator: str, depth: int) -> None:
    options = ("--netlist", "ecp5", "--cells", "ecp5-pair", "--depth", depth)
    report = simulate(*extreme, tmp_path, *options, bits=8, simulator=simulator)
    assert report["netlist"] == "ecp5"


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("b", [INT4, INT8])
def test_two_products_in_each_multiplier(b: IntFormat) -> None:
    figures = {}
    for cells in ("ecp5", "ecp5-pair"):
        array = AxiBareArray(BareArray(ArrayConfig(rows=2, cols=4, depth=2, b=b, cells=cells)))
        figures[cells] = cell_figures(synthesized(emit_verilog(array, "array"), "array", open_target("ecp5-85k")))
    assert figures["ecp5"]["dsp"] == 2 * figures["ecp5-pair"]["dsp"] == 16


def test_wider_weights_are_refused_by_name(tmp_path: Path) -> None:
    result = call("emit", "array", "--out", tmp_path / "out", "--cells", "ecp5-pair", "--b-bits", 10)
    assert result.exit_code != 0
    assert (
        "b must have at most 9 bits with cells 'ecp5-pair' and int8 for a, two to a multiplier, not 10" in result.output
    )
