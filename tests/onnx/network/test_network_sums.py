"""Convolutions and products of networks against onnxruntime: random geometries, and every step of the requantizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from systoliq.golden.network import Convolution, Dense
from systoliq.onnx import read_network

from .oracle import check, write
from .sum_models import FLOAT_BIAS, QDQ, QLINEAR, TYPES, constants_for


def geometry(rng) -> tuple[dict[str, Any], str, tuple[int, ...], tuple[int, ...]]:
    """Attributes of a convolution, its window as text, and the shapes of its input and weights."""
    channels = int(rng.choice([1, 2, 3, 4, 6, 8]))
    groups = int(rng.choice([g for g in (1, 2, 3, channels) if channels % g == 0]))
    kernel, image = rng.integers(1, 6, 2), rng.integers(9, 14, 2)
    auto = str(rng.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    strides, dilations = rng.integers(1, 4, 2), rng.integers(1, 2 if "SAME" in auto else 3, 2)
    pads = f"pads = {rng.integers(0, 3, 4).tolist()}" if auto == "NOTSET" else f'auto_pad = "{auto}"'
    attributes = f"group = {groups}, kernel_shape = {kernel.tolist()}, strides = {strides.tolist()}, "
    attributes += f"dilations = {dilations.tolist()}, {pads}"
    m = groups * int(rng.integers(1, 4))
    return attributes, (1, channels, *image.tolist()), (m, channels // groups, *kernel.tolist())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kinds", TYPES, ids=str)
@pytest.mark.parametrize("per_channel", [False, True])
def test_convolutions(kinds, per_channel, tmp_path):
    rng = np.random.default_rng(8)
    seen = set()
    for _ in range(16):
        attributes, x, w = geometry(rng)
        constants = constants_for(rng, kinds, w, per_channel=per_channel)
        low = 0 if kinds[0] == "uint8" else -128
        values = (rng.integers(0, 256, x) + low).astype(kinds[0])
        for body in (QDQ, FLOAT_BIAS, QLINEAR):
            body = body if per_channel else body.replace("<axis = 0>", "")
            head = f"g ({kinds[0]}{list(x)} a) => ({kinds[0]}[n, c, h, w] y)"
            path = write(tmp_path / "model.onnx", f"{head} {{ {body.replace('ATTRIBUTES', attributes)} }}", constants)
            network = read_network(path)
            _, operators = check(path, network, {"a": values})
            assert "QLinearConv" in operators
            (node,) = network.nodes
            assert isinstance(node, Convolution)
            seen.add((node.groups > 1, node.depthwise))
    assert seen >= {(False, False), (True, True)}


def around_steps(network) -> np.ndarray:
    """Inputs [rows, 2] of int8 whose sums 127 * a + b lie beside the steps of the network's one output."""
    sums = np.arange(-127 * 127 - 127, 127 * 127 + 128)
    high = np.clip(np.rint(sums / 127), -127, 127).astype(int)
    rows = np.stack([high, sums - 127 * high], axis=1).astype(np.int8)
    steps = np.flatnonzero(np.diff(network.golden({"a": rows})["y"][:, 0].astype(int)))
    places = np.concatenate([steps + beside for beside in (-2, -1, 0, 1, 2, 3)])
    return rows[np.unique(places.clip(0, len(rows) - 1))]


PRODUCTS = {
    "int8[N, 2] a": "fw = DequantizeLinear(w, ws, wz) f = Gemm<transB = 1>(fa, fw)",
    "int8[N, 2, 1, 1] a": "fw = DequantizeLinear(v, ws, wz) f = Conv(fa, fw)",
}


@pytest.mark.parametrize("power", [False, True], ids=["any scale", "powers of two"])
def test_every_step_of_a_product(power, tmp_path):
    """Sums 127 * a + b are all integers there are: those beside each of the 255 steps, for Gemm and Conv alike."""
    rng = np.random.default_rng(9)
    for _ in range(10):
        scales = 2.0 ** (np.rint(rng.uniform(-8, 2, 2)) if power else rng.uniform(-8, 2, 2))
        unit = scales[0] * scales[1] * 2.0 ** rng.integers(3, 9)
        constants = {
            "as": np.float32(scales[0]), "ws": np.float32(scales[1]), "az": np.int8(0), "wz": np.int8(0),
            "ys": np.float32(unit if power else unit * rng.uniform(1, 2)), "yz": np.int8(rng.integers(-128, 128)),
            "w": np.array([[127, 1]], np.int8), "v": np.array([[[[127]], [[1]]]], np.int8),
        }  # fmt: skip
        rows = None
        for given, inside in PRODUCTS.items():
            body = f"fa = DequantizeLinear(a, as, az) {inside} y = QuantizeLinear(f, ys, yz)"
            path = write(tmp_path / "model.onnx", f"g ({given}) => (int8[n] y) {{ {body} }}", constants)
            network = read_network(path)
            assert isinstance(network.nodes[0], Dense | Convolution)
            rows = around_steps(network) if rows is None else rows.reshape(-1, 2, 1, 1)
            assert check(path, network, {"a": rows})[0] == len(rows) > 100


def test_a_product_of_rows(tmp_path):
    """[batch, rows, K] with a bias that an Add brings."""
    rng = np.random.default_rng(10)
    constants = {
        "as": np.float32(0.02), "az": np.int8(-5), "ws": np.float32(0.01), "wz": np.int8(0), "bz": np.int32(0),
        "ys": np.float32(0.11), "yz": np.int8(7), "w": rng.integers(-128, 128, (9, 4)).astype(np.int8),
        "b": rng.integers(-900, 900, 4).astype(np.int32), "bs": np.float32(np.float32(0.02) * np.float32(0.01)),
    }  # fmt: skip
    text = """g (int8[1, 5, 9] a) => (int8[1, 5, 4] y) {
        fa = DequantizeLinear(a, as, az) fw = DequantizeLinear(w, ws, wz) fb = DequantizeLinear(b, bs, bz)
        t = MatMul(fa, fw) f = Add(fb, t) y = QuantizeLinear(f, ys, yz) }"""
    network = read_network(write(tmp_path / "model.onnx", text, constants))
    (node,) = network.nodes
    a = rng.integers(-128, 128, (3, 5, 9)).astype(np.int8)
    expected = node.layer.golden(a.reshape(-1, 9)).reshape(3, 5, 4)
    np.testing.assert_array_equal(network.golden({"a": a})["y"], expected)
    np.testing.assert_array_equal(node.layer.bias, constants["b"])
