"""`systoliq emit engine`: what it writes builds, lints, says what it is, and refuses what an engine has no use for."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.golden import E4M3FN, E5M2, E5M2FNUZ, matmul_integer, qlinear_matmul
from systoliq.hw.engine.float8_registers import FLOAT8_MAP
from systoliq.package.engine.register_map import c_header
from systoliq.package.forms import described_forms
from systoliq.sim.tools import find, require


def call(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def emit(directory, *arguments):
    return call("emit", "engine", "--out", directory, *arguments)


def test_package(tmp_path):
    out = tmp_path / "engine"
    result = emit(out, "--rows", "2", "--cols", "4", "--lanes", "2", "--b-words", "64", "--name", "mine")
    assert result.exit_code == 0, result.output
    names = {"mine.v", "mine_tb.v", "mine.vlt", "mine.json", "mine_vectors.npz", "registers.md", "systoliq_engine.h"}
    names |= set(described_forms({"top": "mine", "registers": {}}))
    assert {path.name for path in out.iterdir()} == names
    sidecar = json.loads((out / "mine.json").read_text())
    assert (sidecar["kind"], sidecar["top"], sidecar["cells"]) == ("engine", "mine", "portable")
    assert (sidecar["engine"]["rows"], sidecar["engine"]["b_words"]) == (2, 64)
    assert {*sidecar["files"], "mine.json"} == names
    widths = {port["name"]: port["width"] for port in sidecar["ports"]}
    assert (widths["s_axis_a_tdata"], widths["s_axis_b_tdata"], widths["m_axis_y_tdata"]) == (16, 32, 64)
    assert all(port["meaning"] for port in sidecar["ports"])
    assert {*sidecar["packing"]} == {"a", "b", "y", "padding"}
    assert all(example["cycles"] > 0 for example in sidecar["cycle_model"]["examples"])
    assert sidecar["notes"] == []
    assert "note" not in result.stderr
    assert (out / "systoliq_engine.h").read_text() == c_header()
    if not find("verilator").found:
        pytest.skip("no Verilator")
    assert lint(out, "-Wall", "--top-module", "mine", "mine.vlt", "mine.v") == ""


@pytest.mark.slow
def test_the_testbench_lints(tmp_path):
    """It takes Verilator seven seconds, and float8's, which is shorter, three: see below."""
    emit(tmp_path / "engine", "--rows", "2", "--cols", "4", "--lanes", "2", "--b-words", "64")
    options = ["--timing", "--top-module", "engine_tb", "engine_tb.v"]
    assert lint(tmp_path / "engine", *options, "engine.vlt", "engine.v") == ""


FLOAT8 = ["--a-format", "e4m3fn", "--b-format", "e5m2", "--y-format", "e5m2fnuz"]


@pytest.mark.slow  # test_emitted.py has an engine of float8
def test_package_of_float8(tmp_path):
    """Its registers, vectors and description are those of float8, and its Verilog lints."""
    out = tmp_path / "engine"
    result = emit(out, *FLOAT8, "--rows", "2", "--cols", "4", "--lanes", "2", "--b-words", "64", "--dataflow", "auto")
    assert result.exit_code == 0, result.output
    assert "dataflow: output-stationary" in result.output + result.stderr
    sidecar = json.loads((out / "engine.json").read_text())
    assert {name: form["name"] for name, form in sidecar["engine"]["formats"].items()} == {
        "a": "float8_e4m3fn", "b": "float8_e5m2", "y": "float8_e5m2fnuz",
    }  # fmt: skip
    assert (sidecar["engine"]["accumulator_bits"], sidecar["engine"]["flag_bits"]) == (67, 2)
    assert all(port["meaning"] for port in sidecar["ports"])
    assert (out / "systoliq_engine.h").read_text() == c_header(FLOAT8_MAP) != c_header()
    with np.load(out / "engine_vectors.npz") as stored:
        vectors = dict(stored)
    one, kinds = np.float32(1), (E4M3FN.dtype, E5M2.dtype, E5M2FNUZ.dtype)
    points = [np.zeros((), kind) for kind in kinds]
    for index in range(len(sidecar["vectors"]["jobs"])):
        a, b, scale, y = (vectors[f"job{index}_{name}"] for name in ("a", "b", "scale", "y"))
        inputs = a.view(kinds[0]), one, points[0], b.view(kinds[1]), scale, points[1], one, points[2]
        np.testing.assert_array_equal(y, qlinear_matmul(*inputs).view(np.uint8))
    if not find("verilator").found:
        pytest.skip("no Verilator")
    for options in (["-Wall", "--top-module", "engine"], ["--timing", "--top-module", "engine_tb", "engine_tb.v"]):
        assert lint(out, *options, "engine.vlt", "engine.v") == ""


def lint(folder, *arguments):
    verilator = require("verilator")
    command = [verilator.path, "--lint-only", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=verilator.environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    return done.stderr if done.returncode or "%" in done.stderr else ""


def test_vectors_are_golden(tmp_path):
    emit(tmp_path / "out", "--rows", "2", "--cols", "2")
    with np.load(tmp_path / "out" / "engine_vectors.npz") as stored:
        vectors = dict(stored)
    jobs = json.loads((tmp_path / "out" / "engine.json").read_text())["vectors"]["jobs"]
    for index, job in enumerate(jobs):
        a, b, y = (vectors[f"job{index}_{name}"] for name in ("a", "b", "y"))
        assert (*a.shape, b.shape[1]) == (job["m"], job["k"], job["n"])
        if f"job{index}_scale" not in vectors:
            zero_points = [vectors[f"job{index}_{name}_zero_point"] for name in ("a", "b")]
            zero_points = [each[0] if len(each) == 1 else each for each in zero_points]
            np.testing.assert_array_equal(y, matmul_integer(a, b, *zero_points) + vectors[f"job{index}_bias"])


def test_widths_that_dmas_do_not_take_are_noted(tmp_path):
    result = emit(tmp_path / "out", "--rows", "3", "--cols", "12")
    assert result.exit_code == 0, result.output
    assert "note: s_axis_a has 24 bits; AXI DMAs take powers of two from 8 to 1024" in result.stderr
    assert "note: s_axis_b has 96 bits; AXI DMAs take powers of two from 8 to 1024" in result.stderr
    sidecar = json.loads((tmp_path / "out" / "engine.json").read_text())
    assert sidecar["engine"]["lanes"] == 4  # the largest divisor of the columns up to 4
    assert [f"note: {note}" for note in sidecar["notes"]] == result.stderr.splitlines()[-len(sidecar["notes"]) :]
    assert len(sidecar["notes"]) == 2


REFUSED = [
    (("--lanes", "3"), "lanes must divide cols = 4, not 3"),
    (("--cols", "0"), "cols must be a positive integer, not 0"),
    (("--b-words", "100"), "b_words must be a power of two from 4 to 65536, not 100"),
    (("--name", "module"), "name must be a Verilog identifier"),
    (("--a-bits", "8"), "a_bits cannot be used with the source engine"),
    (("--b-unsigned",), "b_signed cannot be used with the source engine"),
    (("--accumulator-bits", "24"), "accumulator_bits cannot be used with the source engine: its sums have 32 bits"),
    (("--requantizer", "floor"), "requantizer cannot be used with the source engine"),
    (("--multiplier-bits", "8"), "multiplier_bits cannot be used with the source engine"),
    (("--wrap",), "wrap cannot be used with the source engine"),
    (("--no-bias",), "no_bias cannot be used with the source engine: it has no bias"),
    (("--weights", "w.npz"), "weights must be given for the source resnet8-fc only, not for 'engine'"),
    (("--workload", "w.csv"), "workload can only be used with dataflow auto"),
    (("--vector",), "vector requires bus: the vector unit reads and writes memory"),
    (
        ("--vector", "--bus", "64", *(f"--{each}-format=e4m3fn" for each in "aby")),
        "vector must be False for float8: the vector unit computes bytes of integers",
    ),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSED, ids=[arguments[0] for arguments, _ in REFUSED])
def test_bad_input(tmp_path, arguments, text):
    result = emit(tmp_path / "engine", *arguments)
    assert result.exit_code == 2
    assert text in result.output
    assert not (tmp_path / "engine").exists()


@pytest.mark.parametrize("source", ["array", "resnet8-fc"])
@pytest.mark.parametrize("option", [("--lanes", "2"), ("--a-words", "64"), ("--dataflow", "auto")])
def test_other_sources_refuse_what_an_engine_alone_has(tmp_path, source, option):
    result = call("emit", source, "--out", tmp_path / "out", *option)
    assert result.exit_code == 2
    name = option[0].strip("-").replace("-", "_")
    assert f"{name} must be given for the source engine only, not for '{source}'" in result.output
