"""Models with several inputs and outputs in hardware: bits, streams, packages, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from onnx import numpy_helper, parser

from systoliq.board.exchange_of import exchange_of
from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.design.network.reasons import reasons_against
from systoliq.errors import InputError
from systoliq.onnx import Model, read_network
from systoliq.package import write_package
from systoliq.sim.tools import find, missing_text
from systoliq.verify import verify_package

from ...cli.refused import assert_refused
from ...onnx.network.oracle import check

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 2, 4, 4] x, float[N, 2, 4, 4] z) => (float[N, 3, 4, 4] head, float[N, 2, 2, 2] small)
<float sx = {0.02}, float sz = {0.03}, float sw = {0.01}, float sy = {0.04}, int8 px = {3}, int8 zero = {0}>
{
  xq = QuantizeLinear (x, sx, px)
  xd = DequantizeLinear (xq, sx, px)
  zq = QuantizeLinear (z, sz, zero)
  zd = DequantizeLinear (zq, sz, zero)
  sum = Add (xd, zd)
  sumq = QuantizeLinear (sum, sy, px)
  sumd = DequantizeLinear (sumq, sy, px)
  wd = DequantizeLinear (w, sw, zero)
  made = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (sumd, wd)
  madeq = QuantizeLinear (made, sy, zero)
  head = DequantizeLinear (madeq, sy, zero)
  pooled = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (sumd)
  pooledq = QuantizeLinear (pooled, sy, px)
  small = DequantizeLinear (pooledq, sy, px)
}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    model = parser.parse_model(TEXT)
    w = np.random.default_rng(1).integers(-128, 128, (3, 2, 3, 3)).astype(np.int8)
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    file = tmp_path_factory.mktemp("model") / "two.onnx"
    file.write_bytes(model.SerializeToString())
    return file


@pytest.fixture(scope="module")
def design(path):
    return NetworkDesign(read_network(path), NetworkOptions(multipliers=8), name="two")


@pytest.fixture(scope="module")
def package(design, tmp_path_factory):
    return write_package(design, tmp_path_factory.mktemp("package") / "two")


def images(count=3):
    rng = np.random.default_rng(2)
    return {name: rng.uniform(-3, 3, (count, 2, 4, 4)).astype(np.float32) for name in "xz"}


def test_golden_is_onnxruntime(path):
    compared, _ = check(path, read_network(path), images(20))
    assert compared >= 20 * (2 * 16 * 3 + 3 * 16 + 2 * 4)


def test_layers_and_emit_agree(path):
    reading = Model.open(path).reading
    assert (reading.problems, reasons_against(reading.network)) == ((), ())


def test_sidecar(package):
    sidecar = json.loads((package / "two.json").read_text())
    assert [port["name"] for port in sidecar["ports"] if port["name"].endswith("tlast")] == [
        "s_axis_a0_tlast", "s_axis_a1_tlast", "m_axis_y0_tlast", "m_axis_y1_tlast",
    ]  # fmt: skip
    assert {letter: end["graph_input"] for letter, end in sidecar["inputs"].items()} == {"a0": "x", "a1": "z"}
    assert {letter: end["name"] for letter, end in sidecar["outputs"].items()} == {"y0": "madeq", "y1": "pooledq"}
    assert list(sidecar["formats"]) == list(sidecar["packing"]) == ["a0", "a1", "y0", "y1"]
    ends = [*sidecar["inputs"].values(), *sidecar["outputs"].values()]
    assert all(end["fifo_beats"] >= end["image_beats"] for end in ends)


def test_forms_have_every_stream(package):
    text = (package / "two_litex.py").read_text()
    assert "dma=('s_axis_a0', 's_axis_a1', 'm_axis_y0', 'm_axis_y1')" in text


@pytest.mark.slow
def test_certificate(package):
    assert verify_package(package).reasons == ()
    content = json.loads((package / "certificate.json").read_text())
    assert set(content["outputs"]) == {"y0", "y1"}


@pytest.mark.simulator
def test_command_line(path, tmp_path, call):
    """Both inputs in one archive, and both outputs in one."""
    if not find("icarus").found:
        pytest.skip(missing_text(find("icarus")))
    given, made = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(given, **images())
    options = "--simulator", "icarus", "--stalls", 0.4, "--multipliers", 8
    result = call("simulate", path, "--input", given, "--output", made, *options)
    assert result.exit_code == 0, result.output
    golden = read_network(path).golden(images())
    with np.load(made) as found:
        assert sorted(found.files) == ["madeq", "pooledq"]
        for name in found.files:
            np.testing.assert_array_equal(found[name], golden[name])


REFUSED = {
    "an input is missing": ({"x": 0}, "input must hold 'z', the network's input, and holds x"),
    "other batches": (
        {"x": 0, "z": 1},
        "as many images of each of the network's inputs, not 1 of x, 2 of z",
    ),
    "labels": ({"x": 0, "z": 0, "labels": 0}, "labels must be given for a network with one output, not 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_archives_that_are_refused(case, path, tmp_path, call):
    given, text = REFUSED[case]
    arrays = {name: np.zeros((1 + more, 2, 4, 4), np.float32) for name, more in given.items()}
    if "labels" in arrays:
        arrays["labels"] = np.zeros(1, np.int64)
    np.savez(tmp_path / "in.npz", **arrays)
    assert_refused(call("simulate", path, "--input", tmp_path / "in.npz"), text)


def test_boards_refuse(path, design, call, tmp_path):
    text = "the network must have one input to be reached over a board's link, not 2: x, z"
    with pytest.raises(InputError, match=text):
        exchange_of(design, images())
    assert_refused(call("bitstream", path, "--board", "ulx3s-85f", "--out", tmp_path / "out"), text)
    assert not (tmp_path / "out").exists()
