"""Averages of windows of 2 x 2 to 7 x 7 against onnxruntime, at equal scales and others: by sums or in float32."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network.reasons import check_stages
from systoliq.golden.network import WindowedAverage
from systoliq.onnx import read_network

from .oracle import check, write
from .test_network_operators import KINDS, codes

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
