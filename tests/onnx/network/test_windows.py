"""Averages of windows of 2 x 2 to 7 x 7 against onnxruntime, at equal scales and others: by sums or in float32."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design import NetworkDesign
from systoliq.design.network.reasons import check_stages
from systoliq.golden.network import WindowedAverage
from systoliq.onnx import read_network

from .operator_models import KINDS, codes
from .oracle import check, write

SIZES = range(2, 8)


def compared(tmp_path, size, kind, equal, rng, windows):
    """The node of one draw of scales, compared on random windows and on windows of few values."""
    wide = windows // 2
    shape = (2, 1, size, wide * size)
    constants = {"as": np.float32(2 ** rng.uniform(-8, -3)), "az": rng.choice(codes(kind)).reshape(())}
    constants |= {"ys": constants["as"], "yz": constants["az"]}
    if not equal:
        constants |= {"ys": np.float32(constants["as"] * 2 ** rng.uniform(-2, 0.5)), "yz": rng.choice(codes(kind))}
    pool = f"AveragePool<kernel_shape = [{size}, {size}], strides = [{size}, {size}]>"
    body = f"fa = DequantizeLinear(a, as, az) f = {pool}(fa) y = QuantizeLinear(f, ys, yz)"
    head = f"g ({kind}{list(shape)} a) => ({kind}[2, 1, 1, {wide}] y)"
    path = write(tmp_path / "model.onnx", f"{head} {{ {body} }}", constants)
    network = read_network(path)
    a = rng.choice(codes(kind), shape)
    a[1] = rng.choice(codes(kind), 3)[rng.integers(0, 3, shape[1:])]  # many sums are alike, and ties
    assert check(path, network, {"a": a})[0] == 2 * wide
    (node,) = network.nodes
    assert isinstance(node, WindowedAverage)
    return node


@pytest.mark.parametrize("equal", [True, False], ids=["equal scales", "other scales"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("draws", "windows"), [(1, 2000), pytest.param(5, 10_000, marks=pytest.mark.slow)], ids=["few", "a million"]
)
def test_every_size(draws, windows, kind, equal, tmp_path):
    """In hardware either way: integer sums with a certificate where no order of pixels can matter."""
    rng = np.random.default_rng(7)
    for size in SIZES:
        nodes = [compared(tmp_path, size, kind, equal, rng, windows) for _ in range(draws)]
        summed = sum(node.uncertain_sum is None for node in nodes)
        assert not equal or summed == (draws if size % 2 else 0)


@pytest.mark.parametrize("equal", [True, False], ids=["equal scales", "other scales"])
def test_hardware_takes_every_size(equal, tmp_path):
    rng = np.random.default_rng(2)
    for size in SIZES:
        compared(tmp_path, size, "int8", equal, rng, 8)
        check_stages(read_network(tmp_path / "model.onnx"))


EDGES = {  # image, attributes, averages
    "a pad of one, as Inception has it": ((6, 5), "kernel_shape = [3, 3], pads = [1, 1, 1, 1]", 9),
    "strides": ((7, 8), "kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]", 6),
    "one side": ((4, 5), "kernel_shape = [2, 2], pads = [1, 1, 0, 0]", 4),
    "columns alone": ((3, 6), "kernel_shape = [1, 3], pads = [0, 1, 0, 1]", 3),
    "SAME_UPPER": ((5, 5), 'kernel_shape = [2, 2], auto_pad = "SAME_UPPER"', 4),
    "no window inside of the image": ((2, 2), "kernel_shape = [3, 3], pads = [1, 1, 1, 1]", 4),
    "a sequence": ((8,), "kernel_shape = [3], pads = [1, 1]", 3),
    "ceil_mode": ((6, 6), "kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1", 4),
}


def edges(tmp_path, name, *, batch=20):
    image, attributes, _ = EDGES[name]
    constants = {"as": np.float32(0.02), "az": np.int8(3), "ys": np.float32(0.0171), "yz": np.int8(-5)}
    body = f"fa = DequantizeLinear(a, as, az) f = AveragePool<{attributes}>(fa) y = QuantizeLinear(f, ys, yz)"
    head = f"g (int8{[batch, 3, *image]} a) => (int8[{batch}, 3, {', '.join('rc'[: len(image)])}] y)"
    path = write(tmp_path / "model.onnx", f"{head} {{ {body} }}", constants, opset=19)
    a = np.random.default_rng(3).integers(-128, 128, (batch, 3, *image)).astype(np.int8)
    return path, {"a": a}


@pytest.mark.parametrize("name", EDGES)
def test_windows_that_count_fewer_pixels_at_the_edges(name, tmp_path):
    """One average for each part of the image, all in hardware."""
    path, inputs = edges(tmp_path, name)
    network = read_network(path)
    assert check(path, network, inputs)[0] > 0
    assert sum(isinstance(node, WindowedAverage) for node in network.nodes) == EDGES[name][2]
    check_stages(network)


@pytest.mark.slow  # tests/hw/network has windows at all edges
@pytest.mark.simulator
def test_edges_in_verilog(tmp_path):
    path, inputs = edges(tmp_path, "one side", batch=2)
    found = NetworkDesign(read_network(path)).simulate(inputs=inputs, stalls=0.3, simulator="icarus")
    assert found.passed
