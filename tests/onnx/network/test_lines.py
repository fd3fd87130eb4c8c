"""Sums that real numbers of each channel act on before they are quantized, against onnxruntime, which computes them in
float32: almost no integer may differ.
"""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.network import Convolution
from systoliq.onnx import Model, read_network

from .line_models import constants, differing, model_of
from .oracle import check, write

CONV = "fa = DequantizeLinear(a, as, az) fw = DequantizeLinear<axis = 0>(w, ws, wz)"
BIAS = "fb = DequantizeLinear<axis = 0>(b, bs, bz) f = Conv<group = GROUPS, pads = [1, 1, 1, 1]>(fa, fw, fb)"
PLAIN = "f = Conv<group = GROUPS, pads = [1, 1, 1, 1]>(fa, fw, c)"
BODIES = {
    "a bias of another scale": f"{CONV} {BIAS} y = QuantizeLinear(f, ys, yz)",
    "BatchNormalization": f"""{CONV} {PLAIN} g = BatchNormalization(f, gain, c, mean, variance)
        y = QuantizeLinear(g, ys, yz)""",
    "both, and a Relu": f"""{CONV} {BIAS} g = BatchNormalization(f, gain, c, mean, variance) h = Relu(g)
        y = QuantizeLinear(h, ys, yl)""",
    "Mul and Add by channel": f"{CONV} {PLAIN} g = Mul(f, m) h = Add(g, s) y = QuantizeLinear(h, ys, yz)",
    "Sub and Div by number": f"{CONV} {BIAS} g = Sub(one, f) h = Div(g, two) i = Relu(h) y = QuantizeLinear(i, ys, yz)",
    "a gain of 0": f"{CONV} {PLAIN} g = Mul(f, none) h = Add(g, s) y = QuantizeLinear(h, ys, yz)",
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_lines(body, tmp_path):
    rng = np.random.default_rng(31)
    compared = differ = 0
    for number in range(12):
        kind = ("uint8", "int8")[number % 2]
        channels, groups = 6, (1, 6, 3)[number % 3]
        path = model_of(tmp_path, body, kind, constants(rng, kind, channels, groups), groups, channels)
        network = read_network(path)
        assert all(node.layer.b.dtype == np.int16 for node in network.nodes if isinstance(node, Convolution))
        more = differing(path, network, rng, kind, channels)
        compared, differ = compared + more[0], differ + more[1]
    assert compared == 62208
    assert differ <= 3  # near ties


def test_a_scale_of_a_quarter_is_exact_with_two_bits(tmp_path):
    rng = np.random.default_rng(5)
    held = constants(rng, "int8", 4, 1)
    held["bs"] = (held["as"] * held["ws"] / 4).astype(np.float32)
    held["b"] = np.array([1, 2, 3, -5], np.int32)
    path = model_of(tmp_path, BODIES["a bias of another scale"], "int8", held, 1, 4)
    (node,) = read_network(path).nodes
    np.testing.assert_array_equal(node.layer.bias, held["b"])
    assert node.layer.b.max() == 4 * int(held["w"].max())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ys": np.float32(1e-7)}, "must be wrong by at most 0.000977 of y_scale as integers with 8 fraction bits"),
        ({"mean": np.full(4, 1e8, np.float32)}, "its sums must fit 32 bits with the constants behind it, not reach"),
        ({"gain": np.full(4, np.inf, np.float32)}, "the gain and the shift of each channel must be finite"),
    ],
)
def test_refused_by_name(changes, reason, tmp_path):
    held = constants(np.random.default_rng(5), "int8", 4, 1) | changes
    path = model_of(tmp_path, BODIES["BatchNormalization"], "int8", held, 1, 4)
    problems = Model.open(path).reading.problems
    assert any(reason in problem for problem in problems), problems


def test_slopes_with_a_scale_for_each_channel(tmp_path):
    """All 256 integers of each channel."""
    constants = {
        "s": np.float32(0.1), "z": np.uint8(128), "w": np.array([50, -7, 127, 3], np.int8).reshape(4, 1, 1),
        "ws": np.array([0.011, 0.007, 0.003, 0.02], np.float32), "wz": np.zeros(4, np.int8), "ys": np.float32(0.0731),
    }  # fmt: skip
    text = """g (uint8[1, 4, 16, 16] a) => (uint8[1, 4, 16, 16] y) {
        fa = DequantizeLinear(a, s, z) p = DequantizeLinear<axis = 0>(w, ws, wz) f = PRelu(fa, p)
        y = QuantizeLinear(f, ys, z) }"""
    path = write(tmp_path / "model.onnx", text, constants)
    every = np.broadcast_to(np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16), (1, 4, 16, 16))
    compared, _ = check(path, read_network(path), {"a": every})
    assert compared >= every.size
