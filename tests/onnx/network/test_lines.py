"""Sums that real numbers of each channel act on before they are quantized, against onnxruntime, which computes them in
float32: almost no integer may differ.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from systoliq.golden.network import Convolution
from systoliq.onnx import Model, read_network

from .oracle import check, session, write

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


def constants(rng, kind: str, channels: int, groups: int) -> dict[str, np.ndarray]:
    low = np.iinfo(kind).min
    shape = (channels, channels // groups, 3, 3)
    ws = (2.0 ** rng.uniform(-9, -6, channels)).astype(np.float32)
    a_scale = np.float32(2.0 ** rng.uniform(-7, -4))
    step = a_scale * ws.mean() * 60 * np.sqrt(np.prod(shape[1:]))
    real = {
        "gain": rng.uniform(0.5, 2, channels) * rng.choice([1, 1, -1], channels),
        "c": rng.normal(0, 30 * step, channels),
        "mean": rng.normal(0, 20 * step, channels), "variance": rng.uniform(0.5, 2, channels),
        "m": rng.uniform(0.5, 2, (channels, 1, 1)), "s": rng.normal(0, 20 * step, (1, channels, 1, 1)),
        "none": np.where(np.arange(channels) == 1, 0, rng.uniform(-1, 1, channels))[:, None, None],
        "one": 11.3 * step, "two": 1.7, "bs": step * rng.uniform(0.003, 0.1, channels),
        "ys": step, "as": a_scale, "ws": ws,
    }  # fmt: skip
    return {name: np.asarray(value, np.float32) for name, value in real.items()} | {
        "az": np.asarray(rng.integers(0, 256) + low).astype(kind),
        "yz": np.asarray(rng.integers(60, 180) + low).astype(kind),
        "yl": np.asarray(low).astype(kind),
        "w": rng.integers(-64 if kind == "uint8" else -128, 64, shape).astype(np.int8),
        "wz": np.zeros(channels, np.int8),
        "b": rng.integers(-1000, 1000, channels).astype(np.int32),
        "bz": np.zeros(channels, np.int32),
    }


def model_of(tmp_path, body: str, kind: str, held: dict[str, np.ndarray], groups: int, channels: int):
    head = f"g ({kind}[1, {channels}, 12, 12] a) => ({kind}[1, {channels}, 12, 12] y)"
    return write(tmp_path / "model.onnx", f"{head} {{ {body.replace('GROUPS', str(groups))} }}", held)


def differing(path, network, rng, kind: str, channels: int) -> tuple[int, int]:
    """Results compared for six images, and how many of them differ, each by one at most."""
    info, run, compared, differ = np.iinfo(kind), session(onnx.load(path)), 0, 0
    for _ in range(6):
        x = rng.integers(info.min, info.max + 1, (1, channels, 12, 12)).astype(kind)
        wanted = run.run(["y"], {"a": x})[0].astype(int)
        found = network.golden({"a": x})["y"].astype(int)
        assert np.abs(found - wanted).max() <= 1
        compared, differ = compared + wanted.size, differ + int((found != wanted).sum())
    return compared, differ


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
