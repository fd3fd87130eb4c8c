"""Scales that are 0 or NaN: commands that read a model or a layer name the tensor and its channels."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.odd_scales import odd_scales
from systoliq.onnx import Model

from ..onnx.network.oracle import write

NAN, INF = float("nan"), float("inf")
SCALES = np.array([0.02, NAN, 0.01, 0, 0.03, NAN], np.float32)
CONSTANTS = {
    "s": np.float32(0.02), "t": np.float32(0.5), "z": np.int8(3), "n": np.zeros(6, np.int8), "ws": SCALES,
    "w": np.arange(-27, 27, dtype=np.int8).reshape(6, 1, 3, 3), "flat": np.array([1, 96]),
    "u": np.arange(-6, 6, dtype=np.int8).reshape(2, 6, 1, 1), "v": np.arange(-288, 288).astype(np.int8).reshape(96, 6),
}  # fmt: skip
CONV = """a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z) [weights] fw = DequantizeLinear<axis = 0>(w, ws, n)
    [conv] h = Conv(fa, fw) b = QuantizeLinear(h, t, z) fb = DequantizeLinear(b, t, z)"""
NETWORK = f"""g (float[1, 1, 6, 6] x) => (float[1, 2, 2, 2] y) {{ {CONV}
    m = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(fb) c = QuantizeLinear(m, t, z) fc = DequantizeLinear(c, t, z)
    fu = DequantizeLinear(u, s, z) k = Conv(fc, fu) d = QuantizeLinear(k, t, z) y = DequantizeLinear(d, t, z) }}"""
PRODUCT = """g (int8[4, 96] a) => (int8[4, 6] y) { [fc] y = QLinearMatMul(a, s, z, v, ws, n, t, z) }"""
PLACES = "is NaN in channels 1 and 5, 0 in channel 3"
COLUMNS = "b_scale is NaN in columns 1 and 5, 0 in column 3"

ENGINE = ("--rows", 4, "--cols", 4, "--depth", 2, "--lanes", 2)
# the command, what follows the model, and the start of its note for the network
BY_MODEL = (
    f"note: the scale 'ws' of DequantizeLinear 'weights' {PLACES}: results are the float32 formula's all the same"
)
BY_NODE = f"note: node 'conv': {COLUMNS}: results are the float32 formula's all the same"
COMMANDS = {
    "layers": ((), BY_MODEL),
    "emit": (("--out", "OUT"), BY_NODE),
    "compile": (("--out", "OUT", *ENGINE), BY_MODEL),
    "explore": (("--require", "throughput=10", "--out", "OUT"), BY_NODE),
}
SIMULATED = {
    "simulate": (("--input", "X", "--simulator", "icarus"), BY_NODE),
    "run": (("--input", "X", "--simulator", "icarus", *ENGINE), BY_MODEL),
}


@pytest.fixture
def network(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(1).normal(0, 1, (1, 1, 6, 6)).astype(np.float32))
    return write(tmp_path / "model.onnx", NETWORK, CONSTANTS)


def called(call, command, path, more):
    folder = path.parent
    places = {"OUT": folder / "out", "X": folder / "x.npz"}
    result = call(command, path, *(places.get(each, each) for each in more))
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.sampled(99)
@pytest.mark.parametrize(
    ("command", "more", "note"),
    [(name, *each) for name, each in COMMANDS.items()]
    + [pytest.param(name, *each, marks=pytest.mark.simulator) for name, each in SIMULATED.items()],
)
def test_networks(command, more, note, network, call):
    lines = called(call, command, network, more).stderr.splitlines()
    assert sum(line.startswith(note) for line in lines) == 1, lines


def test_single_products(call, tmp_path):
    path = write(tmp_path / "model.onnx", PRODUCT, CONSTANTS)
    note = f"note: {COLUMNS}: results are the float32 formula's all the same"
    assert note in called(call, "emit", path, ("--out", "OUT")).stderr
    assert f"the scale 'ws' of QLinearMatMul 'fc' {PLACES}" in called(call, "layers", path, ()).stderr


@pytest.mark.slow  # the single products above, and tests/design/layer/test_scales.py
@pytest.mark.simulator
def test_layer_files(call, save, arrays, tmp_path):
    """A scale of Y, too, and a product of scales that is 0 although none of them is."""
    np.savez(tmp_path / "x.npz", a=np.zeros((1, 9), np.uint8))
    for changes, note in (
        ({"y_scale": np.float32(NAN)}, "y_scale is NaN"),
        ({"a_scale": np.float32(0), "y_scale": np.float32(-1)}, "a_scale is 0"),
        (
            {"a_scale": np.float32(1e-30), "y_scale": np.float32(1e30)},
            "a_scale * b_scale / y_scale is 0 in all 5 columns",
        ),
    ):
        path = save("layer.npz", **arrays | changes)
        result = call("simulate", path, "--input", tmp_path / "x.npz", "--simulator", "icarus")
        assert f"note: {note}: results are" in result.stderr, result.output


@pytest.mark.slow
def test_no_note_without_a_cause(call, tmp_path):
    path = write(tmp_path / "model.onnx", NETWORK, CONSTANTS | {"ws": np.full(6, 0.01, np.float32)})
    for command in ("layers", "emit"):
        assert called(call, command, path, COMMANDS[command][0]).stderr == ""


OPERATORS = {
    "QuantizeLinear": "y = QuantizeLinear(x, bad, z)",
    "QLinearConv": "y = QLinearConv(q, s, z, w, bad, n, t, z)",
    "QLinearAdd": "y = com.microsoft.QLinearAdd(q, s, z, q, t, z, bad, z)",
    "QLinearSigmoid": "y = com.microsoft.QLinearSigmoid(q, s, z, bad, z)",
    "QLinearConcat": "y = com.microsoft.QLinearConcat<axis = 1>(t, z, q, bad, z, q, s, z)",
}


@pytest.mark.parametrize(("name", "node"), OPERATORS.items())
def test_operators(name, node, tmp_path):
    text = f"g (float[1, 1, 6, 6] x, int8[1, 1, 6, 6] q) => (int8[n, c, h, w] y) {{ [node] {node} }}"
    path = write(tmp_path / "model.onnx", text, CONSTANTS | {"bad": np.float32(0)})
    (note,) = Model.open(path).scale_notes()
    assert note.startswith(f"the scale 'bad' of {name} 'node' is 0: ")


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (1.0, None), ([1.0, 2.0], None), (0.0, "is 0"), (-0.0, "is 0"), (INF, "is infinite"), (-INF, "is infinite"),
        (NAN, "is NaN"), (-1.0, "is negative"), ([0.0, 0.0], "is 0 in all 2 channels"),
        ([1.0, NAN], "is NaN in channel 1"),
        ([0.0, 0.0, 1.0, 0.0], "is 0 in channels 0, 1 and 3"),
        ([0.0] * 20 + [1.0], "is 0 in 20 of 21 channels, the first 0, 1, 2, 3, 4, 5, 6, 7"),
    ],
)  # fmt: skip
def test_words(scale, text):
    assert odd_scales(np.array(scale, np.float32)) == text
