"""Relu and Clip that change something behind a sum, Clip of integers, and weights of few bits, against onnxruntime."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.golden.network import Convolution, Dense, Table
from systoliq.onnx import read_network

from .oracle import check, seen, session, write

_rng = np.random.default_rng(3)
CONSTANTS = {
    "as": np.float32(2**-5), "az": np.int8(3), "ws": np.float32(2**-7), "wz": np.int8(0), "ys": np.float32(0.043),
    "yz": np.int8(-20), "low": np.float32(-0.7), "high": np.float32(1.9), "six": np.float32(6),
    "W": _rng.integers(-127, 128, (6, 3, 3, 3)).astype(np.int8), "V": _rng.integers(-127, 128, (40, 6)).astype(np.int8),
    "least": np.int8(-7), "most": np.int8(9), "uz": np.uint8(0), "fifteen": np.uint8(15), "nought": np.uint8(0),
    "all0": np.int8(-128), "all1": np.int8(127),
}  # fmt: skip
CONV = "h = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(fa, fw)"
IMAGE, VECTOR = (3, 9, 9), (40,)

# the float sums are exact: scales of both operands are powers of two
CLAMPS = {
    "Relu": "g = Relu(h)",
    "Relu6": "g = Clip(h, zero, six)",
    "Clip": "g = Clip(h, low, high)",
    "Clip without a least": "g = Clip(h, , high)",
    "Relu, Clip": "t = Relu(h) g = Clip(t, low, high)",
    "Clip, moved": "t = Clip(h, low, high) g = Flatten(t)",
}


def model(tmp_path, shape, body, opset=13, **changes):
    size = ", ".join(map(str, shape))
    text = f"g (int8[60, {size}] a) => (int8[n] y) {{ fa = DequantizeLinear(a, as, az) {body} }}"
    held = {**CONSTANTS, "zero": np.float32(0), **changes}
    return write(tmp_path / "model.onnx", text, held, opset=opset, ir=8 if opset < 21 else 10)


def integers(shape):
    return np.random.default_rng(7).integers(-128, 128, (60, *shape)).astype(np.int8)


@pytest.mark.parametrize("clamp", CLAMPS.values(), ids=CLAMPS)
@pytest.mark.parametrize("shape", [IMAGE, VECTOR], ids=["Conv", "Gemm"])
def test_behind_a_sum(shape, clamp, tmp_path):
    product = (
        f"fw = DequantizeLinear(W, ws, wz) {CONV}"
        if shape == IMAGE
        else "fw = DequantizeLinear(V, ws, wz) h = Gemm(fa, fw)"
    )
    path = model(tmp_path, shape, f"{product} {clamp} y = QuantizeLinear(g, ys, yz)")
    network = read_network(path)
    compared, operators = check(path, network, {"a": integers(shape)})
    assert compared >= 60 * 6
    assert not operators & {"QLinearConv", "QGemm"}  # onnxruntime computes it in float
    assert {type(node) for node in network.nodes} >= {Convolution if shape == IMAGE else Dense, Table}


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))])
def test_with_other_scales(seed, tmp_path):
    """onnxruntime's float sums round on the way, so that few integers next to a tie may differ, by one."""
    rng = np.random.default_rng(seed)
    scales = {"as": np.float32(rng.uniform(0.01, 0.1)), "ws": np.float32(rng.uniform(0.003, 0.02))}
    scales["ys"] = np.float32(scales["as"] * scales["ws"] * rng.uniform(50, 500))
    body = f"fw = DequantizeLinear(W, ws, wz) {CONV} g = Relu(h) y = QuantizeLinear(g, ys, yz)"
    path = model(tmp_path, IMAGE, body, **scales)
    network = read_network(path)
    (expected,) = session(seen(path, network)[0]).run(["y"], {"a": integers(IMAGE)})
    apart = np.abs(network.golden({"a": integers(IMAGE)})["y"].astype(int) - expected)
    assert apart.max() <= 1
    assert np.count_nonzero(apart) <= 1  # 2 in the 900,000 of 100 seeds


CLIPS = {
    "of 4 bits": "c = Clip(q, least, most) fc = DequantizeLinear(c, ys, yz) y = QuantizeLinear(fc, as, az)",
    "at the end": "y = Clip(q, least, most)",
    "without effect": "y = Clip(q, all0, all1)",
    "without a most": "y = Clip(q, least)",
    "Relu": "y = Relu(q)",
}


@pytest.mark.parametrize("body", CLIPS.values(), ids=CLIPS)
def test_of_integers(body, tmp_path):
    path = model(
        tmp_path, IMAGE, f"fw = DequantizeLinear(W, ws, wz) {CONV} q = QuantizeLinear(h, ys, yz) {body}", opset=14
    )
    assert check(path, read_network(path), {"a": integers(IMAGE)})[0] >= 60 * 150


NARROW = {"int4": (ml_dtypes.int4, -8, 8), "uint4": (ml_dtypes.uint4, 0, 16)}


@pytest.mark.parametrize("shape", [IMAGE, VECTOR], ids=["Conv", "Gemm"])
@pytest.mark.parametrize(("kind", "low", "high"), NARROW.values(), ids=NARROW)
def test_weights_of_few_bits(kind, low, high, shape, tmp_path):
    """Which onnxruntime computes in float; the sums are exact in it, too."""
    rng = np.random.default_rng(5)
    size = (6, 3, 3, 3) if shape == IMAGE else (6, 40)
    held = {"N": rng.integers(low, high, size).astype(kind), "ns": np.float32(2.0 ** rng.integers(-6, -2, 6)),
            "nz": np.full(6, 5 if low == 0 else 0).astype(kind)}  # fmt: skip
    product = CONV if shape == IMAGE else "h = Gemm<transB = 1>(fa, fw)"
    body = f"fw = DequantizeLinear<axis = 0>(N, ns, nz) {product} y = QuantizeLinear(h, ys, yz)"
    path = model(tmp_path, shape, body, opset=21, **held)
    network = read_network(path)
    assert check(path, network, {"a": integers(shape)})[0] >= 60 * 6
    assert network.nodes[0].layer.b_format.bits == 4


@pytest.mark.slow
@pytest.mark.simulator
def test_in_verilog(tmp_path):
    held = {"N": _rng.integers(-8, 8, (6, 3, 3, 3)).astype(ml_dtypes.int4), "nz": np.zeros((), ml_dtypes.int4)}
    body = f"fw = DequantizeLinear(N, ws, nz) {CONV} g = Relu(h) q = QuantizeLinear(g, ys, yz) y = Clip(q, least, most)"
    path = model(tmp_path, IMAGE, body, opset=21, **held)
    design = NetworkDesign(read_network(path))
    np.savez(tmp_path / "a.npz", a=integers(IMAGE)[:2])
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed
