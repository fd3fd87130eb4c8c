"""The FuseSoC core of a package: FuseSoC itself runs its targets, under both simulators, and a fault fails the run."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
import yaml

from .written import RESERVED, break_testbench, spoil, tools_environment, written


def run_target(folder, target, name, work, library="blocks"):
    """FuseSoC's end and output, of `target` of the core in `folder`."""
    tools = {"sim": ["icarus"], "sim_verilator": ["verilator"], "lint": ["verilator"]}
    environment = tools_environment(work, "make", *tools.get(target, []))
    if target.startswith("synth_") and not shutil.which("yosys"):
        pytest.skip("no Yosys with Tcl on PATH: apt-get install yosys")
    environment |= {f"XDG_{each}_HOME": str(work) for each in ("CACHE", "CONFIG", "DATA")}
    call = [sys.executable, "-W", "ignore", "-c", "from fusesoc.main import main; main()"]
    command = [*call, "--cores-root", str(folder), "run", "--build-root", str(work / "build"), "--target", target]
    command.append(f"systoliq:{library}:{name}")
    return subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=900
    )  # fmt: skip


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        pytest.param("layer", "ecp5", marks=pytest.mark.slow),
        ("array", "portable"),
        pytest.param("engine", "portable", marks=pytest.mark.slow),
    ],
)
def test_icarus(kind, cells, tmp_path):
    name, folder = written(kind, tmp_path, cells)
    done = run_target(folder, "sim", name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\nPASS: " in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("kind", ["layer", "array"])
def test_verilator(kind, tmp_path):
    name, folder = written(kind, tmp_path)
    done = run_target(folder, "sim_verilator", name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "PASS: " in done.stdout + done.stderr
    break_testbench(name, folder)
    assert run_target(folder, "sim_verilator", name, tmp_path).returncode != 0


@pytest.mark.slow
@pytest.mark.simulator
def test_a_system(call, tmp_path):
    """A processor's firmware and the engine, through FuseSoC."""
    pytest.importorskip("pythondata_cpu_picorv32", reason="pip install 'systoliq[soc]'")
    pytest.importorskip("ziglang", reason="pip install 'systoliq[soc]'")
    done = call("soc", "--out", tmp_path / "out", "--rows", 2, "--cols", 2, "--images", 2)
    assert done.exit_code == 0, done.output
    ran = run_target(tmp_path / "out", "sim_verilator", "soc", tmp_path, library="systems")
    assert ran.returncode == 0, ran.stderr
    assert "\nPASS\n" in ran.stdout + ran.stderr


@pytest.mark.slow
@pytest.mark.simulator
def test_a_fault_fails_the_run(tmp_path):
    name, folder = written("array", tmp_path)
    break_testbench(name, folder)
    assert run_target(folder, "sim", name, tmp_path).returncode != 0


@pytest.mark.slow  # tests/package/test_lint.py
@pytest.mark.parametrize("cells", ["portable", "ecp5"])
def test_lint(cells, tmp_path):
    name, folder = written("layer", tmp_path, cells)
    done = run_target(folder, "lint", name, tmp_path)
    assert done.returncode == 0, done.stderr
    spoil(name, folder)
    assert run_target(folder, "lint", name, tmp_path).returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("cells", ["portable", "ecp5", "ice40", "gowin", "dsp48e2"])
def test_synthesis(cells, tmp_path):
    if cells == "gowin" and shutil.which("yosys"):
        known = ["yosys", "-q", "-p", "read_verilog -lib +/gowin/cells_xtra_gw2a.v"]
        if subprocess.run(known, capture_output=True, check=False).returncode:
            pytest.skip("the Yosys on PATH is too old to know Gowin's multipliers")
    name, folder = written("layer", tmp_path, cells)
    core = yaml.safe_load((folder / f"{name}.core").read_text())
    targets = [target for target in core["targets"] if target.startswith("synth_")]
    assert len(targets) == (4 if cells == "portable" else 1)
    done = run_target(folder, targets[0], name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "build").rglob("*.json"))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("kind", ["layer", "array", "engine"])
@pytest.mark.parametrize("cells", ["portable", "ecp5"])
def test_all_files_are_there_and_models_are_for_simulation_alone(kind, cells, tmp_path):
    name, folder = written(kind, tmp_path, cells)
    core = yaml.safe_load((folder / f"{name}.core").read_text())
    files = {key: value for each in core["filesets"].values() for file in each["files"] for key, value in file.items()}
    assert set(files) == {path.name for path in folder.iterdir() if path.suffix in (".v", ".vlt", ".mem")}
    assert files.get(f"{name}_models.v", {"tags": ["simulation"]})["tags"] == ["simulation"]
    assert core["name"] == f"systoliq:blocks:{name}:1.0"
    for title, target in core["targets"].items():
        assert {set_ for set_ in target["filesets"] if "?" not in set_} <= set(core["filesets"])
        assert title == "default" or target["toplevel"] in (name, f"{name}_tb")


@pytest.mark.slow
def test_memories_are_where_the_simulator_runs(tmp_path):
    from systoliq.package import write_package

    from ..big import FILES, big_design

    write_package(big_design(), tmp_path / "package")
    done = run_target(tmp_path / "package", "sim", "big", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\nPASS: " in done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "build").rglob("*.mem")} == set(FILES)


@pytest.mark.parametrize("name", RESERVED)
def test_words_of_yaml_are_names_all_the_same(name, tmp_path):
    _, folder = written("array", tmp_path, name=name)
    core = yaml.safe_load((folder / f"{name}.core").read_text())
    assert core["targets"]["lint"]["toplevel"] == name
    assert core["targets"]["sim"]["toplevel"] == f"{name}_tb"


def test_a_network_s_name_cannot_leave_its_place():
    from systoliq.package.forms.block import Block
    from systoliq.package.forms.fusesoc import fusesoc_core

    sidecar = {
        "top": "net", "kind": "network", "cells": "portable", "ports": [], "files": {"net.v": ""},
        "clocking": {"clock": "clk", "reset": "rst", "reset_kind": "synchronous, active high"},
        "computes": 'a "net"\\ of:\n- {x: \x07\u00fc}',
    }  # fmt: skip
    core = yaml.safe_load(fusesoc_core(Block(sidecar)))
    assert core["description"] == 'network: a "net"\\ of: - {x: ??}'
