"""`systoliq emit`: the package checks itself, says what it is, and passes the lint and synthesis of others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from systoliq.design import LayerDesign
from systoliq.design.sources import resnet8_fc_layer
from systoliq.package.waivers import WAIVERS
from systoliq.sim.tools import find
from systoliq.synth.tools import find_yosys

from ..support.layers import short_testbenches
from ..support.testbenches import one_round

PACKAGES = {
    "resnet8-fc": ["resnet8-fc"],
    "two rows, tiles, depth 3": ["resnet8-fc", "--rows", "2", "--cols", "4", "--depth", "3"],
    "more rows than beats": ["resnet8-fc", "--rows", "3", "--cols", "2", "--depth", "32"],
    "one element": ["resnet8-fc", "--cols", "1", "--depth", "16"],
    "narrow accumulator": ["resnet8-fc", "--accumulator-bits", "auto"],
    "smallest exact requantizer": ["resnet8-fc", "--requantizer", "auto"],
    "inexact requantizer": ["resnet8-fc", "--requantizer", "nearest", "--multiplier-bits", "6"],
    "digits": ["digits"],
    "array": ["array"],
    "array of one": ["array", "--rows", "1", "--cols", "1"],
    "array, odd formats": [
        *["array", "--rows", "3", "--cols", "2", "--depth", "2"],
        *["--a-bits", "5", "--a-unsigned", "--b-bits", "16", "--accumulator-bits", "23"],
    ],
    "array that wraps": ["array", "--rows", "2", "--cols", "2", "--accumulator-bits", "16", "--wrap"],
}
LAYERS = {"layer file": [], "layer file, tiles": ["--rows", "2", "--cols", "2", "--depth", "4", "--name", "tiny"]}


def run_testbench(directory: Path, folder: Path) -> str:
    """What the testbench prints under Icarus, called from another folder."""
    if not find("icarus").found:
        pytest.skip(find("icarus").hint)
    sources = sorted(map(str, directory.glob("*.v")))
    built = subprocess.run(
        ["iverilog", "-g2005", "-Wall", "-Wno-timescale", "-o", "t", *sources],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (built.returncode, built.stdout + built.stderr) == (0, "")
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=600).stdout


def little(arrays):
    """Four rows and two columns of a layer."""
    columns = {name: arrays[name][2:4] for name in ("b_scale", "b_zero_point", "bias")}
    return arrays | columns | {"b": arrays["b"][:4, 2:4]}


def emit(call, out: Path, *arguments: object) -> dict:
    result = call("emit", *arguments, "--out", out)
    assert result.exit_code == 0, result.output
    (sidecar,) = (path for path in out.glob("*.json") if path.name != "certificate.json")
    return json.loads(sidecar.read_text())


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("arguments", PACKAGES.values(), ids=PACKAGES)
def test_the_testbench_passes(arguments, call, tmp_path):
    emit(call, tmp_path / "out", *arguments)
    assert run_testbench(tmp_path / "out", tmp_path).startswith("PASS: ")


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("whole", [pytest.param(True, marks=pytest.mark.slow), False])
@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_the_testbench_of_a_layer_file_passes(options, whole, call, arrays, save, tmp_path):
    """With each of its phases once, or as often as it says."""
    with short_testbenches():
        sidecar = emit(call, tmp_path / "out", save("my layer.npz", **little(arrays)), *options)
    assert sidecar["top"] == ("tiny" if options else "my_layer")
    assert sidecar["parameters"]["row_sums"]  # its zero points are those that cost the most
    out = tmp_path / "out"
    assert run_testbench(out if whole else one_round(out), tmp_path).startswith("PASS: ")


# Bugs at the edge: what the top makes of the ports of the right module.
EDGE = {
    "stuck output bit": ("m_axis_y_tdata", "y_tdata | 8'h04", "FAIL: row"),
    "swapped input bits": ("a_tdata", "{s_axis_a_tdata[7:2], s_axis_a_tdata[0], s_axis_a_tdata[1]}", "FAIL: row"),
    "last stuck at 0": ("m_axis_y_tlast", "1'b0", "FAIL: row 0 column 9: expected tlast 1, got 0"),
    "valid stuck at 0": ("m_axis_y_tvalid", "1'b0", "FAIL: nothing moves for"),
    "valid unconnected": ("m_axis_y_tvalid", "1'bz", "FAIL: tvalid z"),
    "output that is not held": ("m_axis_y_tdata", "m_axis_y_tready ? y_tdata : ~y_tdata", "while it was waiting"),
    "no reset": ("reset", "1'b0", "FAIL: "),
}

# Bugs inside: the Verilog of a layer that is not quite the one the testbench was written for.
INSIDE = {
    "a weight": lambda layer: layer.replace(b=layer.b + (np.arange(640) == 333).reshape(64, 10).astype(np.int8)),
    "a bias": lambda layer: layer.replace(bias=layer.bias + np.int32(40)),
    "the zero point of the output": lambda layer: layer.replace(y_zero_point=1),
    "the zero point of the input": lambda layer: layer.replace(a_zero_point=21),
    "the scale": lambda layer: layer.replace(y_scale=layer.y_scale * np.float32(1.01)),
}


@pytest.mark.sampled(15)
@pytest.mark.simulator
@pytest.mark.parametrize(("net", "value", "said"), EDGE.values(), ids=EDGE)
def test_the_testbench_finds_a_bug_at_the_edge(net, value, said, call, tmp_path):
    emit(call, tmp_path / "out", "resnet8-fc")
    path = tmp_path / "out" / "resnet8_fc.v"
    nets = {
        "a_tdata": "s_axis_a_tdata",
        "reset": "rst",
        "m_axis_y_tdata": "y_tdata",
        "m_axis_y_tlast": "y_tlast",
        "m_axis_y_tvalid": "y_tvalid",
        "error": "misplaced",
    } | {net: value}
    assigned = "\n".join(f"  assign {name} = {expression};" for name, expression in nets.items())
    top = f"""
module resnet8_fc(input clk, input rst, input [7:0] s_axis_a_tdata, input s_axis_a_tvalid, output s_axis_a_tready,
    input s_axis_a_tlast, output [7:0] m_axis_y_tdata, output m_axis_y_tvalid, input m_axis_y_tready,
    output m_axis_y_tlast, output error);
  wire [7:0] a_tdata, y_tdata;
  wire y_tvalid, y_tlast, misplaced, reset;
{assigned}
  right dut(.clk(clk), .rst(reset), .s_axis_a_tdata(a_tdata), .s_axis_a_tvalid(s_axis_a_tvalid),
    .s_axis_a_tready(s_axis_a_tready), .s_axis_a_tlast(s_axis_a_tlast), .m_axis_y_tdata(y_tdata),
    .m_axis_y_tvalid(y_tvalid), .m_axis_y_tready(m_axis_y_tready), .m_axis_y_tlast(y_tlast),
    .error(misplaced));
endmodule
"""
    path.write_text(path.read_text().replace("module resnet8_fc(", "module right(", 1) + top)
    output = run_testbench(tmp_path / "out", tmp_path)
    assert output.startswith("FAIL: ")
    assert said in output
    assert "PASS" not in output


@pytest.mark.sampled(3)
@pytest.mark.simulator
@pytest.mark.parametrize("change", INSIDE.values(), ids=INSIDE)
def test_the_testbench_finds_a_bug_inside(change, call, tmp_path):
    emit(call, tmp_path / "out", "resnet8-fc")
    layer, _ = resnet8_fc_layer()
    wrong = LayerDesign(change(layer), origin="")
    (tmp_path / "out" / "resnet8_fc.v").write_text(wrong.verilog)
    output = run_testbench(tmp_path / "out", tmp_path)
    assert re.match(r"FAIL: row \d+ column \d: expected -?\d+, got -?\d+ ", output)
    assert "PASS" not in output


def test_the_sidecar_of_a_layer(call, tmp_path):
    sidecar = emit(call, tmp_path / "out", "resnet8-fc", "--rows", "2", "--cols", "5")
    assert sidecar["generator"] == "systoliq"
    assert (sidecar["name"], sidecar["kind"], sidecar["shape"]) == ("resnet8_fc", "layer", {"k": 64, "n": 10})
    assert "example weights" in sidecar["origin"]
    assert sidecar["clocking"]["reset"] == "rst"
    ports = {port["name"]: (port["direction"], port["width"]) for port in sidecar["ports"]}
    head = re.search(r"^module resnet8_fc\((.*?)^\);", (tmp_path / "out" / "resnet8_fc.v").read_text(), re.M | re.S)[1]
    declared = re.findall(r"^  (\w+) wire (?:\[(\d+):0\] )?(\w+),?$", head, re.MULTILINE)
    assert [(name, (direction, int(top or 0) + 1)) for direction, top, name in declared] == list(ports.items())
    assert ports["s_axis_a_tdata"] == ("input", 16)
    assert all(port["meaning"] for port in sidecar["ports"])
    model = sidecar["cycle_model"]
    for m, cycles in model["cycles"].items():
        groups = -(-int(m) // model["rows_per_group"])
        assert cycles == model["first_group_cycles"] + (groups - 1) * model["further_group_cycles"]
    quantization = sidecar["quantization"]
    assert quantization["a"] == {"scale": pytest.approx(0.1903), "zero_point": 20}
    for key in ("multiplier", "shift", "offset", "accumulator_range", "scale"):
        assert len(quantization[key]) == 10
    assert set(sidecar["versions"]) >= {"systoliq", "amaranth", "yosys", "numpy"}
    assert {*sidecar["files"], "resnet8_fc.json"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert sidecar["vectors"]["float32_mismatches"] == 0


def test_the_golden_vectors_are_the_float32_formula(call, tmp_path):
    from systoliq.golden import MatMulLayer

    emit(call, tmp_path / "out", "resnet8-fc", "--requantizer", "nearest", "--multiplier-bits", "6")
    layer = MatMulLayer.load(tmp_path / "out" / "resnet8_fc_layer.npz")
    vectors = np.load(tmp_path / "out" / "resnet8_fc_vectors.npz")
    np.testing.assert_array_equal(vectors["y"], layer.golden(vectors["a"]))
    assert (vectors["y"] != vectors["y_hardware"]).any()


def test_real_weights_take_the_place_of_the_examples(call, shared, tmp_path):
    weights = shared / "data" / "resnet8_fc.npz"
    sidecar = emit(call, tmp_path / "out", "resnet8-fc", "--weights", weights)
    assert "resnet8_fc.npz" in sidecar["origin"]
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "resnet8_fc_layer.npz")["b"], np.load(weights)["weights"])


@pytest.mark.slow
def test_weights_alone_keep_the_presets_scales(call, save, tmp_path):
    sidecar = emit(call, tmp_path / "out", "resnet8-fc", "--weights", save("w.npz", b=np.ones((64, 10), np.int8)))
    assert sidecar["quantization"]["y"]["scale"] == pytest.approx(0.1585)
    assert sidecar["quantization"]["bias"] is None
    assert sidecar["origin"].startswith("b of w.npz; a_scale, ")


@pytest.mark.sampled(99)
@pytest.mark.parametrize("source", ["array", "resnet8-fc"])
def test_the_same_bytes_in_every_process(source, tmp_path):
    written = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "systoliq", "emit", source, "--out", str(tmp_path / seed)]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        written.append({path.name: path.read_bytes() for path in (tmp_path / seed).iterdir()})
    assert written[0] == written[1]


@pytest.mark.slow  # test_lint.py runs the same command
@pytest.mark.parametrize(
    "arguments", [["layer.npz"], ["resnet8-fc"], ["resnet8-fc", "--rows=3", "--cols=4", "--depth=8"], ["array"]]
)
def test_verilator_has_nothing_to_say_beyond_the_waivers(arguments, call, arrays, save, tmp_path):
    tool = find("verilator")
    if not tool.found:
        pytest.skip(tool.hint)
    source = save("layer.npz", **little(arrays)) if arguments == ["layer.npz"] else arguments[0]
    tmp_path = tmp_path / "out"
    with short_testbenches():
        name = emit(call, tmp_path, source, *arguments[1:])["name"]
    command = [str(tool.path), "--lint-only", "-Wall", "--top-module", name, f"{name}.vlt", f"{name}.v"]
    environment = {**os.environ, **tool.environment}
    lint = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "%" not in lint.stdout + lint.stderr
    assert lint.returncode == 0
    # the testbench builds without a warning too
    command = [str(tool.path), "--lint-only", "--timing", "--top-module", f"{name}_tb", f"{name}.vlt", f"{name}.v"]
    command.append(f"{name}_tb.v")
    lint = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "%" not in lint.stdout + lint.stderr


def test_each_waiver_has_a_reason(call, tmp_path):
    name = emit(call, tmp_path, "array")["name"]
    lines = (tmp_path / f"{name}.vlt").read_text().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("lint_off"):
            assert lines[number - 1].startswith("// ")
    assert sum(line.startswith("lint_off") for line in lines) == len(WAIVERS)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["resnet8-fc"], ["resnet8-fc", "--rows=2", "--cols=4", "--depth=2"], ["array"]])
def test_yosys_synthesizes_it_without_a_latch_or_a_warning(arguments, call, tmp_path):
    name = emit(call, tmp_path, *arguments)["name"]
    pytest.importorskip("pyosys", reason="pip install 'systoliq[synth]'")
    script = f"read_verilog {name}.v; synth -top {name}; check -assert; select -assert-none t:$_DLATCH* t:$dlatch t:$sr"
    (tmp_path / "check.ys").write_text(script.replace("; ", "\n"))
    yosys = find_yosys().run("check.ys", cwd=tmp_path)
    said = yosys.stdout + yosys.stderr
    assert yosys.returncode == 0, said[-2000:]
    assert not re.findall(r"^(?!ABC: ).*Warning: .*|Latch inferred .*", said, re.MULTILINE)
