"""Pairs whose operands are repeated along any dimensions, against onnxruntime; hardware takes all of them."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.design.network.reasons import reasons_against
from systoliq.golden.network import Move

from .operator_models import between, codes, compare

WHOLE = (1, 6, 3, 4)
SHAPES = ((1, 1, 3, 4), (1, 6, 1, 4), (1, 6, 3, 1), (1, 1, 3, 1), (1, 1, 1, 1), (1, 6, 1, 1))
SCALES = {
    "as": np.float32(0.0313719), "az": np.int8(3), "bs": np.float32(0.0437213), "bz": np.int8(-20),
    "ys": np.float32(0.05), "yz": np.int8(7),
}  # fmt: skip


def of(shape):
    return f"int8[{', '.join(map(str, shape))}]"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("operator", ["Add", "Mul", "Sub"])
@pytest.mark.parametrize("small", SHAPES, ids=str)
def test_repeated(small, operator, tmp_path):
    rng = np.random.default_rng(2)
    for a, b in ((WHOLE, small), (small, WHOLE)):
        inputs = {name: rng.choice(codes("int8"), shape) for name, shape in (("a", a), ("b", b))}
        head = f"g ({of(a)} a, {of(b)} b) => ({of(WHOLE)} y)"
        network, _ = compare(tmp_path, head, between(f"f = {operator}(fa, fb)", "a", "b"), SCALES, inputs)
        assert reasons_against(network) == ()
        assert any(isinstance(node, Move) for node in network.nodes) == (small != (1, 6, 1, 1))


def test_both_repeated(tmp_path):
    """Each operand lacks a dimension of the other, as the rows and columns of coordinate attention."""
    rng = np.random.default_rng(2)
    a, b = (1, 6, 3, 1), (1, 1, 1, 4)
    inputs = {name: rng.choice(codes("int8"), shape) for name, shape in (("a", a), ("b", b))}
    head = f"g ({of(a)} a, {of(b)} b) => ({of(WHOLE)} y)"
    network, _ = compare(tmp_path, head, between("f = Mul(fa, fb)", "a", "b"), SCALES, inputs)
    assert reasons_against(network) == ()


@pytest.mark.slow
@pytest.mark.simulator
def test_in_verilog(tmp_path):
    rng = np.random.default_rng(2)
    inputs = {"a": rng.choice(codes("int8"), WHOLE)}
    body = """fa = DequantizeLinear(a, as, az) r = ReduceMean<axes = [1], keepdims = 1>(fa)
        b = QuantizeLinear(r, bs, bz)
        fb = DequantizeLinear(b, bs, bz) f = Mul(fa, fb) y = QuantizeLinear(f, ys, yz)"""
    network, _ = compare(tmp_path, f"g ({of(WHOLE)} a) => ({of(WHOLE)} y)", body, SCALES, inputs)
    assert NetworkDesign(network).simulate(inputs=inputs).passed
