"""Projects for Vivado and openXC7: their files, pins and scripts, as far as can be checked without these tools."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli

pytest.importorskip("amaranth_boards", reason="the extra board is not installed: pip install 'systoliq[board]'")


@pytest.fixture(scope="module", params=["vivado", "openxc7"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The tool, and the folder with its project of a layer with 1 column."""
    out = tmp_path_factory.mktemp(request.param) / "out"
    size = ["--cols", "1", "--board", "arty-a7-35t", "--tool", request.param]
    result = CliRunner().invoke(cli, ["board", "project", "resnet8-fc", *size, "--out", str(out)])
    assert result.exit_code == 0, result.output
    return request.param, out


def test_pins_and_clock(project: tuple[str, Path]) -> None:
    _, out = project
    pins = (out / "top.xdc").read_text()
    ports = dict(re.findall(r'set_property LOC (\w+) \[get_ports "(\w+)"\]', pins))
    assert ports.keys() == {"E3", "A9", "D10", "H5"}  # Digilent's Arty A7 master XDC: clock, uart_txd_in, rxd_out, led
    assert ports["E3"].startswith("clk100")
    top = (out / "top.v").read_text()
    assert all(re.search(rf"^\s*(inout|input|output)\b.*\b{port};", top, re.MULTILINE) for port in ports.values())


def test_scripts_name_files_that_are_there(project: tuple[str, Path]) -> None:
    tool, out = project
    script = (out / {"vivado": "top.tcl", "openxc7": "build_top.sh"}[tool]).read_text()
    for name in ("link.v", "top.v", "top.xdc"):
        assert name in script
        assert (out / name).stat().st_size > 100
    assert "xc7a35t" in script
    listed = json.loads((out / "project.json").read_text())["files"]
    assert {*listed, "project.json"} == {each.name for each in out.iterdir()}


def test_the_script_of_vivado_is_whole_tcl(project: tuple[str, Path]) -> None:
    tool, out = project
    if tool != "vivado" or shutil.which("tclsh") is None:
        pytest.skip("for Vivado, by tclsh: apt-get install tcl")
    check = 'puts [info complete [read [open "top.tcl"]]]'
    done = subprocess.run(["tclsh"], input=check, cwd=out, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_both_texts_are_one_design(project: tuple[str, Path], tmp_path: Path) -> None:
    """Icarus misses no module but the part's buffers."""
    _, out = project
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus is missing: apt-get install iverilog")
    text = (out / "top.v").read_text() + (out / "link.v").read_text()
    defined = set(re.findall(r"^module \\?(\S+?)\s*\(", text, re.MULTILINE))
    used = set(re.findall(r"^  \\?(\w+) (?:#\(|\w+ \()", text, re.MULTILINE)) - defined
    assert {"IBUF", "OBUFT"} <= used
    command = ["iverilog", "-g2005", "-i", "-s", "top", "-o", str(tmp_path / "t"), "top.v", "link.v"]
    done = subprocess.run(command, cwd=out, capture_output=True, text=True, check=False)
    unknown = set(re.findall(r"Unknown module type: (\w+)", done.stderr))
    assert unknown <= {"IBUF", "OBUFT"}, done.stderr


@pytest.mark.parametrize("baud", ["90000000", "300", "0"])
def test_a_line_that_is_too_fast_or_too_slow(baud: str, tmp_path: Path) -> None:
    size = ["--board", "arty-a7-35t", "--baud", baud, "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli, ["board", "project", "resnet8-fc", *size])
    assert result.exit_code != 0
    assert f"baud must be 1526 to 25000000 at 100.000 MHz, not {baud}" in result.stderr
    assert not (tmp_path / "out").exists()
