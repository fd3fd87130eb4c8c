"""The Makefile of a package: its targets run the testbench and lint, and a fault fails them."""

from __future__ import annotations

import subprocess

import pytest

from .written import RESERVED, break_testbench, spoil, tools_environment, written


def make(folder, target):
    """The end and output of `make target` in `folder`."""
    environment = tools_environment(folder.parent, "make", "icarus" if target == "icarus" else "verilator")
    return subprocess.run(
        ["make", target], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
    )  # fmt: skip


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("kind", "cells"), [pytest.param("layer", "ecp5", marks=pytest.mark.slow), ("array", "portable")]
)
def test_icarus(kind, cells, tmp_path):
    name, folder = written(kind, tmp_path, cells)
    before = {path.name for path in folder.iterdir()}
    done = make(folder, "icarus")
    assert done.returncode == 0, done.stderr
    assert "\nPASS: " in done.stdout
    break_testbench(name, folder)
    assert make(folder, "icarus").returncode != 0
    assert make(folder, "clean").returncode == 0
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.slow
@pytest.mark.simulator
def test_verilator(tmp_path):
    name, folder = written("array", tmp_path)
    done = make(folder, "verilator")
    assert done.returncode == 0, done.stderr
    assert "PASS: " in done.stdout
    break_testbench(name, folder)
    assert make(folder, "verilator").returncode != 0


@pytest.mark.sampled(99)
@pytest.mark.parametrize(("kind", "cells"), [("layer", "ecp5"), ("engine", "portable")])
def test_lint(kind, cells, tmp_path):
    name, folder = written(kind, tmp_path, cells)
    done = make(folder, "lint")
    assert done.returncode == 0, done.stderr
    spoil(name, folder)
    assert make(folder, "lint").returncode != 0


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_targets_are_names_all_the_same(name, tmp_path):
    _, folder = written("array", tmp_path, name=name)
    said = subprocess.run(
        ["make", "-n", "icarus", "OUT=obj_dir"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert f"-s {name}_tb -o obj_dir/{name}_tb.vvp {name}.v {name}_tb.v\n" in said


@pytest.mark.slow
def test_memories(tmp_path):
    from systoliq.package import write_package

    from ..big import big_design

    write_package(big_design(), tmp_path / "package")
    done = make(tmp_path / "package", "icarus")
    assert done.returncode == 0, done.stderr
    assert "\nPASS: " in done.stdout
