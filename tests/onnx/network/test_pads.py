"""Pad nodes against onnxruntime: merged into the stages behind them, or stages of their own."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.golden.network import Convolution, MaxPool, Move
from systoliq.onnx import Model, read_network
from systoliq.onnx.network import Fate

from .oracle import check, write

CONSTANTS = {
    "as": np.float32(2**-5), "az": np.int8(3), "ws": np.float32(2**-7), "wz": np.int8(0), "ys": np.float32(0.043),
    "yz": np.int8(-20), "W": np.random.default_rng(1).integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
    "L": np.random.default_rng(2).integers(-127, 128, (4, 3, 3)).astype(np.int8), "value": np.float32(2**-5 * -40),
    "odd": np.float32(0.1), "least": np.int8(-128), "p": np.int64([0, 0, 1, 2, 0, 0, 2, 0]), "axes": np.int64([2, -1]),
    "q": np.int64([1, 0, 2, 3]), "l": np.int64([0, 0, 4, 0, 0, 1]), "minus": np.int64([0, 0, -1, 0, 0, 0, 0, 0]),
    "channel": np.int64([0, 1, 0, 0, 0, 0, 0, 0]), "few": np.int64([1, 1]),
    "all": np.int64([0, 1, 2, 0, 0, 3, 0, 1]),
}  # fmt: skip
IMAGE, ROW = (3, 6, 7), (3, 12)
DQ_P = "b = QuantizeLinear(t, as, az) fb = DequantizeLinear(b, as, az)"
CONV = """fw = DequantizeLinear(W, ws, wz) h = Conv<strides = [2, 2], pads = [0, 1, 1, 0]>(fb, fw)
    y = QuantizeLinear(h, ys, yz)"""
LINE = "fw = DequantizeLinear(L, ws, wz) h = Conv<dilations = [2]>(fb, fw) y = QuantizeLinear(h, ys, yz)"

# shape of the input, nodes, the stages behind
CASES = {
    "before Conv": (IMAGE, f"t = Pad(fa, p) {DQ_P} {CONV}", [Convolution]),
    "before Conv, without a QuantizeLinear": (IMAGE, f"fb = Pad(fa, p) {CONV}", [Convolution]),
    "a constant behind a DequantizeLinear": (
        IMAGE,
        f"fz = DequantizeLinear(az, as, az) t = Pad(fa, p, fz) {DQ_P} {CONV}",
        [Convolution],
    ),
    "of axes": (IMAGE, f"t = Pad(fa, q, , axes) {DQ_P} {CONV}", [Convolution]),
    "twice": (IMAGE, f"s = Pad(fa, p) t = Pad(s, p) {DQ_P} {CONV}", [Convolution]),
    "before Conv with one dimension": (ROW, f"t = Pad(fa, l) {DQ_P} {LINE}", [Move, Convolution, Move]),
    "integers before MaxPool": (IMAGE, "b = Pad(a, p, least) y = MaxPool<kernel_shape = [3, 2]>(b)", [MaxPool]),
    "another number": (IMAGE, f"t = Pad(fa, p, value) {DQ_P} {CONV}", [Convolution] * 2),
    "before MaxPool": (
        IMAGE,
        "t = Pad(fa, p) m = MaxPool<kernel_shape = [3, 2]>(t) y = QuantizeLinear(m, as, az)",
        [Convolution, MaxPool],
    ),
    "at the end": (IMAGE, "t = Pad(fa, p) y = QuantizeLinear(t, as, az)", [Convolution]),
    "two takers": (
        IMAGE,
        f"t = Pad(fa, p) {DQ_P} {CONV.replace('y =', 'c =')} m = Relu(fb) y = QuantizeLinear(m, as, az)",
        None,
    ),
    "channels at the end": (IMAGE, "t = Pad(fa, channel) y = QuantizeLinear(t, as, az)", [Move, Convolution, Move]),
    "channels, rows and columns": (IMAGE, "t = Pad(fa, all, value) y = QuantizeLinear(t, as, az)", None),
    "edge": (IMAGE, f't = Pad<mode = "edge">(fa, p) {DQ_P} {CONV}', [Move, Convolution]),
    "reflect": (IMAGE, f't = Pad<mode = "reflect">(fa, p) {DQ_P} {CONV}', [Move, Convolution]),
}


def model(tmp_path, shape, body):
    size = ", ".join(map(str, shape))
    text = f"g (int8[40, {size}] a) => (int8[n] y) {{ fa = DequantizeLinear(a, as, az) {body} }}"
    return write(tmp_path / "model.onnx", text, CONSTANTS, opset=18)


def integers(shape):
    return np.random.default_rng(7).integers(-128, 128, (40, *shape)).astype(np.int8)


@pytest.mark.parametrize(("shape", "body", "stages"), CASES.values(), ids=CASES)
def test_pads(shape, body, stages, tmp_path):
    path = model(tmp_path, shape, body)
    network = read_network(path)
    assert check(path, network, {"a": integers(shape)})[0] >= 40 * 4
    if stages is not None:
        assert [type(node) for node in network.nodes] == stages


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", ["another number", "channels at the end", "before Conv with one dimension"])
def test_in_verilog(name, tmp_path):
    shape, body, _ = CASES[name]
    design = NetworkDesign(read_network(model(tmp_path, shape, body)))
    np.savez(tmp_path / "a.npz", a=integers(shape)[:2])
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed


def test_before_the_first_integers(tmp_path):
    """It is the host's, as before."""
    text = """g (float[1, 3, 6, 7] x) => (int8[n] y) { x1 = Pad(x, p) a = QuantizeLinear(x1, as, az)
        y = MaxPool<kernel_shape = [2, 2]>(a) }"""
    reading = Model.open(write(tmp_path / "model.onnx", text, CONSTANTS, opset=18)).reading
    assert reading.network.inputs[0].shape == (1, 3, 9, 9)
    assert reading.verdicts[0].fate is Fate.HOST


REFUSED = {
    "negative": (
        "Pad(fa, minus)",
        r"its pads must be at least 0, and 0 for the batch, not \[0, 0, -1",
    ),
    "channels": (
        'Pad<mode = "edge">(fa, channel)',
        r"it must repeat rows and columns, not channels, of which it pads \[1, 0\]",
    ),
    "too few": ("Pad(fa, few)", "its pads must be 8 numbers, not"),
    "no integer": (
        "Pad(fa, p, odd)",
        "its constant must be a number that an integer of its input stands for, .*, not 0.1",
    ),
    "behind a sum": ("Pad(h, p)", "its input 'h' must come from a DequantizeLinear, not from Conv 'h'"),
}


@pytest.mark.parametrize(("pad", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(pad, text, tmp_path):
    body = f"fw = DequantizeLinear(W, ws, wz) h = Conv(fa, fw) t = {pad} y = QuantizeLinear(t, as, az)"
    with pytest.raises(InputError, match=text):
        read_network(model(tmp_path, IMAGE, body))
