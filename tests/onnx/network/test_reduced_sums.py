"""ReduceSum between DequantizeLinear and QuantizeLinear against onnxruntime, which adds float32 numbers."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.onnx import read_network

from .operator_models import codes, compare
from .oracle import ONE_IN, by_node, write

AXES = {"1": (1,), "3": (3,), "1, 3": (1, 3), "2, 3": (2, 3), "-3, -1, 2": (1, 2, 3)}


def body(kept: int) -> str:
    return f"""fa = DequantizeLinear(a, as, az) f = ReduceSum<keepdims = {kept}>(fa, axes)
        y = QuantizeLinear(f, ys, yz)"""


def head(shape: tuple[int, ...], made: tuple[int, ...], kind: str = "int8", kind_of_result: str = "int8") -> str:
    return f"g ({kind}{list(shape)} a) => ({kind_of_result}{list(made)} y)"


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kept", [0, 1])
def test_powers_of_two(axes, kept, tmp_path):
    """Every sum is exact in float32, ties too; also with a result of another type."""
    rng = np.random.default_rng(8)
    for kind, other in (("int8", "int8"), ("uint8", "int8")):
        inputs = {"a": rng.choice(codes(kind), (1, 6, 5, 7))}
        made = inputs["a"].sum(axis=AXES[axes], keepdims=bool(kept)).shape
        given = {"as": np.float32(2**-5), "az": rng.choice(codes(kind)), "ys": np.float32(0.25), "yz": np.int8(-9)}
        given["axes"] = np.int64([int(each) for each in axes.split(", ")])
        compare(tmp_path, head((1, 6, 5, 7), made, kind, other), body(kept), given, inputs)


@pytest.mark.slow
def test_random_scales(tmp_path):
    rng = np.random.default_rng(5)
    compared = wrong = 0
    for draw, (high, wide) in enumerate([(2, 2), (3, 5), (7, 7), (8, 8), (12, 12)] * 32):
        kind = ("int8", "uint8")[draw % 2]
        point, half = rng.choice(codes(kind)), float(codes(kind).mean())
        scale = np.float32(rng.uniform(0.005, 0.1))
        spread = np.sqrt(high * wide) * rng.uniform(0.8, 3) + high * wide * abs(half - point) / 100
        given = {"as": scale, "az": point, "ys": np.float32(scale * spread), "yz": rng.choice(codes(kind))}
        given["axes"] = np.int64([2, 3])
        path = write(
            tmp_path / "model.onnx",
            f"{head((1, 64, high, wide), (1, 64), kind, kind)} {{ {body(0)} }}",
            given,
        )
        (found,) = by_node(path, read_network(path), {"a": rng.choice(codes(kind), (60, 64, high, wide))})[:1]
        compared, wrong = compared + found.compared, wrong + found.wrong
        assert found.furthest <= 1
    assert compared == 614_400
    assert wrong * ONE_IN <= compared


def test_scales_with_many_ties_are_refused(tmp_path):
    given = {"as": np.float32(0.1), "az": np.int8(1), "ys": np.float32(0.4), "yz": np.int8(0), "axes": np.int64([2, 3])}
    path = write(tmp_path / "model.onnx", f"{head((1, 6, 5, 7), (1, 6))} {{ {body(0)} }}", given)
    with pytest.raises(InputError, match="the scales around ReduceSum 'f' must leave few sums half-way"):
        read_network(path)


@pytest.mark.slow
@pytest.mark.simulator
def test_in_verilog(tmp_path):
    given = {"as": np.float32(0.1), "az": np.int8(1), "ys": np.float32(0.7), "yz": np.int8(3), "axes": np.int64([1, 3])}
    path = write(tmp_path / "model.onnx", f"{head((1, 6, 5, 7), (1, 5))} {{ {body(0)} }}", given)
    a = np.random.default_rng(2).choice(codes("int8"), (2, 6, 5, 7))
    assert NetworkDesign(read_network(path)).simulate({"a": a}).passed
