"""`systoliq emit-engine`: what it writes builds, lints and says what it is."""

from __future__ import annotations

import json
import subprocess

import pytest
from click.testing import CliRunner

from systoliq.build.cli import cli
from systoliq.build.registers import c_header
from systoliq.sim.tools import find, require


def emit(directory, *arguments):
    return CliRunner().invoke(cli, ["emit-engine", "--out", str(directory), *arguments])


def test_package(tmp_path):
    out = tmp_path / "engine"
    result = emit(out, "--rows", "2", "--cols", "4", "--lanes", "2", "--b-words", "64", "--name", "mine")
    assert result.exit_code == 0, result.output
    names = {"mine.v", "mine.vlt", "mine.json", "registers.md", "systoliq_engine.h"}
    assert {path.name for path in out.iterdir()} == names
    sidecar = json.loads((out / "mine.json").read_text())
    assert (sidecar["engine"]["rows"], sidecar["engine"]["b_words"]) == (2, 64)
    assert {*sidecar["files"], "mine.json"} == names
    widths = {port["name"]: port["width"] for port in sidecar["ports"]}
    assert (widths["s_axis_a_tdata"], widths["s_axis_b_tdata"], widths["m_axis_y_tdata"]) == (16, 32, 64)
    assert (out / "systoliq_engine.h").read_text() == c_header()
    if not find("verilator").found:
        pytest.skip("no Verilator")
    verilator = require("verilator")
    lint = subprocess.run(
        [verilator.path, "--lint-only", "-Wall", "mine.vlt", "mine.v"],
        cwd=out,
        env=verilator.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lint.returncode == 0, lint.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--lanes", "3"), "lanes must divide cols = 4, not 3"),
        (("--b-words", "100"), "b_words must be a power of two from 4 to 65536, not 100"),
        (("--name", "module"), "name must be a Verilog identifier"),
    ],
)
def test_bad_input(tmp_path, arguments, text):
    result = emit(tmp_path / "engine", *arguments)
    assert result.exit_code == 2
    assert text in result.output
    assert not (tmp_path / "engine").exists()
