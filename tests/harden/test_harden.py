"""Layout of a small array by qflow, and faults in it that each check must find."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.harden.extracted import verilog_of
from systoliq.harden.report import drc_errors, lvs_matches
from systoliq.harden.tools import CELLS, check_tools
from systoliq.signoff.files import package_files
from systoliq.signoff.runs import under_icarus
from systoliq.sim.process import SimulationError
from systoliq.sim.tools import ToolError


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `package` of a 1 x 1 array of 2-bit operands, and its layout `layout`."""
    try:
        check_tools()
    except ToolError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("harden")
    size = ["--rows", "1", "--cols", "1", "--a-bits", "2", "--b-bits", "2", "--accumulator-bits", "6"]
    emitted = CliRunner().invoke(cli, ["emit", "array", *size, "--out", str(folder / "package")])
    assert emitted.exit_code == 0, emitted.output
    result = CliRunner().invoke(cli, ["harden", str(folder / "package"), "--out", str(folder / "layout")])
    assert result.exit_code == 0, result.output
    assert "PASS: " in result.stdout
    return folder


def test_figures_and_files(laid_out: Path) -> None:
    out = laid_out / "layout"
    figures = json.loads((out / "harden.json").read_text())
    assert (figures["clean"], figures["drc_errors"], figures["lvs"]) == (True, 0, True)
    assert figures["cells"]["DFFPOSX1"] == figures["registers"] > 20
    assert 96 * figures["registers"] < figures["cell_area"] < figures["area"]  # a register is 96 um2
    assert 100 < figures["mhz"] <= figures["mhz_placed"] < 2000
    assert (out / "array.gds").read_bytes()[2:4] == b"\0\2"  # the record HEADER
    assert (out / "array.png").read_bytes().startswith(b"\x89PNG")
    for name in ("array.def", "array.lef", "array.spice", "array.sdf", "array_layout.v", "drc.txt", "timing.txt"):
        assert (out / name).stat().st_size > 100
    assert "Circuits match uniquely" in (out / "lvs.txt").read_text()


def test_the_rules_find_a_short(laid_out: Path, tmp_path: Path) -> None:
    project = shutil.copytree(laid_out / "layout/qflow", tmp_path / "qflow")
    script = f"lef read {CELLS}/osu018_stdcells.lef\nload array\nbox 20um 20um 20.2um 60um\npaint m2\n"
    (project / "fault.tcl").write_text(f"{script}writeall force array\nquit -noprompt\n")
    _run(["magic", "-dnull", "-noconsole", "fault.tcl"], project)
    _run(["qflow", "drc", "-T", "osu018", "-p", str(project), "array"], project)
    assert drc_errors(project) > 0


def test_the_comparison_and_the_testbench_find_swapped_wires(laid_out: Path, tmp_path: Path) -> None:
    project = shutil.copytree(laid_out / "layout/qflow", tmp_path / "qflow")
    spice = (project / "array.spice").read_text()
    pattern = re.compile(r"^(XDFFPOSX1_\d+ )(\S+)( \S+ )(\S+)( gnd vdd DFFPOSX1)$", re.MULTILINE)
    first, second = list(pattern.finditer(spice))[:2]
    swapped = spice.replace(first[0], f"{first[1]}{second[2]}{first[3]}{first[4]}{first[5]}")
    swapped = swapped.replace(second[0], f"{second[1]}{first[2]}{second[3]}{second[4]}{second[5]}")
    (project / "array.spice").write_text(swapped)
    _run(["qflow", "lvs", "-T", "osu018", "-p", str(project), "array"], project)
    assert not lvs_matches(project)
    files = package_files(laid_out / "package")
    text = verilog_of(swapped, "array", files.sidecar["ports"]) + (CELLS / "osu018_stdcells.v").read_text()
    with pytest.raises(SimulationError):
        under_icarus(files, text, 60)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
