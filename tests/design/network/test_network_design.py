"""Networks on the command line: a small QDQ model by onnxruntime's quantizer, simulated, emitted, refused."""

from __future__ import annotations

import json
import logging
import re
import subprocess
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.onnx import read_network
from systoliq.sim.tools import find, missing_text
from systoliq.testbench.network import stimulus, testbench

from ...onnx.network.networks import Builder, images, quantized
from ...onnx.network.oracle import seen, session


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Convolution with strides, a residual branch, depthwise, max pool, dense of a map of several pixels."""
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    net = Builder(["N", 2, 6, 6])
    net.conv(2, 4, (3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    trunk = net.relu()
    net.conv(4, 4, (3, 3), groups=4, pads=[1, 1, 1, 1])
    net.add("Add", net.last, trunk)
    net.relu()
    net.add("MaxPool", kernel_shape=[2, 2], strides=[1, 1])
    net.add("Flatten")
    net.gemm(16, 3)
    path = quantized(tmp_path_factory.mktemp("model"), net)
    logging.disable(logging.NOTSET)
    return path


@pytest.fixture
def given(tmp_path):
    x = images(["N", 2, 6, 6], 3, seed=4)
    np.save(tmp_path / "x.npy", x)
    return x


@pytest.fixture
def icarus():
    if not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    return "icarus"


@pytest.mark.slow  # test_plan_cells.py has each form of products
@pytest.mark.simulator
def test_forms_of_products_chosen_by_stage(model, given, call, tmp_path, icarus):
    """Products of one network by twos in a cell, alone in one, and in lookup tables: golden's bits."""
    options = ["--cells", "auto", "--target", "ecp5-85k", "--multipliers", "4", "--luts", "300"]
    result = call("simulate", model, "--input", tmp_path / "x.npy", "--simulator", icarus, *options)
    assert result.exit_code == 0, result.output
    assert re.findall(r"(?:Convolution|Dense) +\d+ x \d+ +(\S+)", result.output) == ["ecp5-pair", "ecp5", "ecp5-lut"]
    assert re.search(r"mismatches +0\b", result.output)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "cells auto needs a target of the families ecp5 or ice40, whose sites are known, not no target"),
        (["--target", "generic"], "whose sites are known, not generic"),
        (["--target", "ecp5-85k", "--plan", "plan.json"], "cells must be named where a plan is given"),
    ],
)
def test_auto_cells_need_a_part_and_no_plan(model, call, tmp_path, options, reason):
    result = call("emit", model, "--out", tmp_path / "out", "--cells", "auto", *options)
    assert result.exit_code == 2
    assert reason in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.simulator
def test_the_netlist_has_the_same_outputs(call, tmp_path, icarus):
    pytest.importorskip("pyosys", reason="the extra synth is not installed: pip install 'systoliq[synth]'")
    net = Builder(["N", 2, 2, 2])
    net.conv(2, 2, (1, 1))
    small, x = quantized(tmp_path, net), images(["N", 2, 2, 2], 3, seed=4)
    given, out, report = (tmp_path / name for name in ("x.npy", "y.npz", "report.json"))
    np.save(given, x)
    result = call(
        "simulate", small, "--input", given, "--simulator", icarus, "--netlist", "ice40", "--report", report,
        "--output", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    content = json.loads(report.read_text())
    assert (content["netlist"], list(content["tensors"].values())) == ("ice40", [{"elements": 24, "mismatches": 0}])
    ((name, y),) = np.load(out).items()
    graph, names = seen(small, read_network(small))
    np.testing.assert_array_equal(y, session(graph).run(names, {"x": x})[names.index(name)])


@pytest.mark.slow  # the netlist's, above, are compared as well
@pytest.mark.simulator
def test_simulated_outputs_are_onnxruntimes(model, given, call, tmp_path, icarus):
    out, report = tmp_path / "y.npz", tmp_path / "report.json"
    result = call(
        "simulate", model, "--input", tmp_path / "x.npy", "--simulator", icarus, "--output", out, "--report", report,
        "--stalls", "0.2", "--tensors", tmp_path / "t.npz",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    content = json.loads(report.read_text())
    assert (content["mismatches"], content["images"], content["violations"]) == (0, 3, [])
    made = np.load(tmp_path / "t.npz")
    assert set(made.files) == set(content["tensors"])
    graph, names = seen(model, read_network(model))
    right = dict(zip(names, session(graph).run(names, {"x": given}), strict=True))
    compared = set(made.files) & set(names)
    assert len(compared) >= 5
    for name in compared:
        np.testing.assert_array_equal(made[name], right[name], err_msg=name)
    (name,) = np.load(out).files
    np.testing.assert_array_equal(np.load(out)[name], right[name])


@pytest.fixture(scope="module")
def package(model, tmp_path_factory):
    """The emitted package, with a testbench of fewer cycles."""
    folder = tmp_path_factory.mktemp("package")
    with (
        mock.patch.object(stimulus, "_CYCLES", 1_000),
        mock.patch.multiple(testbench, _RESET_CYCLES=500, _STOP_CYCLES=500, _FILL_CYCLES=4_000),
    ):
        options = ["--out", str(folder / "out"), "--name", "net", "--multipliers", "60"]
        result = CliRunner().invoke(cli, ["emit", str(model), *options])
    assert result.exit_code == 0, result.output
    return folder / "out"


def printed(sources, folder):
    """What the testbench prints under Icarus."""
    subprocess.run(["iverilog", "-g2005", "-o", "t", *map(str, sources)], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.mark.slow  # tests/testbench/network has it without the command
@pytest.mark.simulator
def test_testbench(package, tmp_path, icarus):
    """It passes, and fails with a fault in the Verilog."""
    sources = sorted(package.glob("*.v"))
    assert printed(sources, tmp_path).startswith("PASS")
    (main,) = (path for path in sources if path.name == "net.v")
    text, count = re.subn(r"(assign \w+ = y >= )", r"\g<1>1 + ", main.read_text())
    assert count
    (tmp_path / "net.v").write_text(text)
    found = printed([tmp_path / "net.v", *(path for path in sources if path != main)], tmp_path)
    assert re.search(r"FAIL: image \d+ beat \d+: expected [0-9a-f]+ tlast [01], got", found)


def test_package(package, model, call, tmp_path):
    """Golden vectors are of every tensor; the plan goes in again; the sidecar says what there is."""
    network = read_network(model)
    vectors = np.load(package / "net_vectors.npz")
    assert {node.output.name for node in network.nodes} | {network.inputs[0].name} == set(vectors.files)
    sidecar = json.loads((package / "net.json").read_text())
    plan = package / "net_plan.json"
    assert sidecar["plan"] == json.loads(plan.read_text())
    again = call("emit", model, "--out", tmp_path / "again", "--name", "net", "--plan", plan)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again/net.v").read_text() == (package / "net.v").read_text()


X = np.zeros((1, 2, 6, 6), np.float32)
REFUSED = {
    "no array of the name": (
        {"a": np.zeros((1, 2, 6, 6), np.float32)},
        "input must hold 'x', the network's input, and holds a",
    ),
    "nothing": ({}, "holds nothing"),
    "shape": ({"x": np.zeros((1, 2, 6, 5), np.float32)}, "x must have the shape ['batch', 2, 6, 6], not [1, 2, 6, 5]"),
    "dimensions": ({"x": np.zeros((2, 6, 6), np.float32)}, "x must have the shape ['batch', 2, 6, 6], not [2, 6, 6]"),
    "type": ({"x": X.astype(np.int64)}, "x must hold real numbers, not int64"),
    "text": ({"x": np.array(["a"])}, "x must hold real numbers, not"),
    "integers of another type": (
        {"x_QuantizeLinear_Output": np.zeros((1, 2, 6, 6), np.uint8)},
        "must be of int8, not of uint8",
    ),
    "no image": ({"x": np.zeros((0, 2, 6, 6), np.float32)}, "input must hold at least one image, and holds none"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", REFUSED)
def test_bad_inputs(case, model, call, save):
    arrays, text = REFUSED[case]
    result = call("simulate", model, "--input", save("bad.npz", **arrays))
    said(result, text)


def said(result, text):
    """A clear error and no traceback."""
    assert result.exit_code == 2, result.output
    words = " ".join(result.output.split())
    assert any(each in words for each in text.split("|")), words
    assert "Traceback" not in result.output


OPTIONS = {
    "--rows 2": "rows cannot be used with a network: each stage has its own, by the plan",
    "--depth 2": "depth cannot be used with a network",
    "--lanes 2": "lanes must be given for the source engine only, not for a network",
    "--quantize": "quantize cannot be used with a network: real numbers of its float inputs are quantized",
    "--no-bias": "no_bias cannot be used with a network",
    "--throughput 10 --plan p.json": "only one of throughput, latency, multipliers and plan must be given",
    "--throughput -1": "must be a positive number or max, not '-1'",
    "--throughput nan": "must be a positive number or max, not 'nan'",
    "--throughput 1e9": "throughput must be lower than 1e+09 images a second at 100 MHz: an image must have at least",
    "--throughput most": "must be a positive number or max, not 'most'",
    "--throughput max": "a target must be given for the throughput max",
    "--throughput max --luts 5": "only one of throughput, latency, multipliers and plan must be given",
    "--latency 0": "must be a positive number or min, not '0'",
    "--latency min": "a target must be given for the latency min",
    "--latency 5 --throughput 10": "only one of throughput, latency, multipliers and plan must be given",
    "--latency 0.001": "latency must be at least",
    "--multipliers 1": "multipliers must be at least",
    "--luts -5": "luts must be 0 or more, not -5",
    "--multipliers 0": "multipliers must be positive, not 0",
    "--plan none.json": "plan cannot be read: none.json: there is no such file",
    "--stalls 1": "stalls must be at least 0 and below 1, not 1.0",
    "--compare onnxruntime": "network|compare",
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("options", OPTIONS)
def test_options_that_do_not_apply(options, model, given, call, tmp_path):
    result = call("simulate", model, "--input", tmp_path / "x.npy", *options.split())
    said(result, OPTIONS[options])


@pytest.mark.parametrize("option", ["--throughput 5", "--latency 5", "--multipliers 9", "--plan p.json"])
def test_options_of_networks_alone(option, call):
    for source in ("resnet8-fc", "array", "engine"):
        result = call("emit", source, "--out", "unused", *option.split())
        said(result, f"must be given for a network, FILE.onnx, only, not for {source!r}")
