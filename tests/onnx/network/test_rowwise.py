"""Softmax against onnxruntime: rows along every dimension, every scale, ties; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.golden.network import Softmax
from systoliq.onnx.network import read_network

from .oracle import write
from .test_network_operators import KINDS, between, codes, compare

QLINEAR = "y = com.microsoft.QLinearSoftmax<axis = -1, opset = 13>(a, as, az, ys, yz)"


def rows(rng, kind: str, count: int, length: int) -> np.ndarray:
    """Rows of any integers, of neighbouring ones, and of few that differ, for which ties are common."""
    values = codes(kind)
    least = int(values.min())
    wide = rng.choice(values, (count, length)).astype(int)
    near = rng.integers(0, 256, (count, 1)) + rng.integers(-12, 13, (count, length)) + least
    few = np.where(rng.integers(0, 3, (count, length)) > 0, wide[:, :1], wide)
    return np.clip(np.concatenate([wide, near, few]), least, values.max()).astype(kind)


def drawn(rng, kind: str, draw: int) -> dict[str, np.generic]:
    """Scales and zero points: those of quantizers, and any others."""
    point = np.int8(-128) if kind == "int8" else np.uint8(0)
    usual = draw % 2 == 0
    return {
        "as": np.float32(10.0 ** (rng.uniform(-2.5, -0.5) if usual else rng.uniform(-4, 1))),
        "az": rng.choice(codes(kind)),
        "ys": np.float32(1 / 256 if usual else 10.0 ** rng.uniform(-4, 0.2)),
        "yz": point if draw % 3 else rng.choice(codes(kind)),
    }


@pytest.mark.parametrize("form", ["QDQ", "QLinear"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 2, 3, 10, 16, 65])
def test_softmax_of_rows(length, kind, form, tmp_path):
    body = between("f = Softmax(fa)", "a") if form == "QDQ" else QLINEAR
    for draw in range(4):
        rng = np.random.default_rng([length, draw])
        a = rows(rng, kind, 2000, length)
        head = f"g ({kind}[N, {length}] a) => ({kind}[N, {length}] y)"
        network, operators = compare(tmp_path, head, body, drawn(rng, kind, draw), {"a": a})
        assert operators == {"QLinearSoftmax"}
        assert [type(node) for node in network.nodes] == [Softmax]
        assert network.nodes[0].kind == f"softmax of {length}"


@pytest.mark.parametrize(
    ("shape", "inside", "opset"),
    [
        ((3, 4, 5), "f = Softmax(fa)", 17),
        ((3, 4, 5), "f = Softmax<axis = 1>(fa)", 17),
        ((3, 4, 5, 6), "f = Softmax<axis = 1>(fa)", 17),
        ((3, 4, 5, 6), "f = Softmax<axis = 2>(fa)", 17),
        ((3, 4, 5, 6), "f = Softmax<axis = -1>(fa)", 13),
        ((3, 2, 3, 4, 5), "f = Softmax<axis = -2>(fa)", 17),
        ((3, 4), "f = Softmax(fa)", 11),
        ((3, 4, 1, 1), "f = Softmax(fa)", 11),
        ((3, 4, 5), "f = Softmax<axis = 2>(fa)", 11),
    ],
    ids=str,
)
def test_softmax_along(shape, inside, opset, tmp_path):
    rng = np.random.default_rng(len(inside) + opset)
    text = ", ".join(map(str, shape[1:]))
    head = f"g (int8[1, {text}] a) => (int8[1, {text}] y)"
    inputs = {"a": rng.choice(codes("int8"), shape)}
    network, _ = compare(
        tmp_path, head, between(inside, "a"), drawn(rng, "int8", 1) | {"as": np.float32(0.1)}, inputs, opset=opset
    )
    assert sum(isinstance(node, Softmax) for node in network.nodes) == 1


@pytest.mark.parametrize(
    ("inside", "scales", "opset", "refusal"),
    [
        ("f = Softmax<axis = 0>(fa)", {}, 17, "axis must be another dimension than the batch, the first"),
        ("f = Softmax<axis = 4>(fa)", {}, 17, "axis must be -4 to 3, not 4"),
        ("f = Softmax(fa)", {}, 11, "axis must be the last dimension up to opset 12, where Softmax works along all"),
        ("f = Softmax(fa)", {"ys": np.float32(1e-5)}, 17, "must be at least 1 / 65536, not 9.99"),
        ("f = Softmax(fa)", {"yz": np.uint8(0)}, 17, "inputs and output must be all of int8 or all of uint8"),
    ],
)  # fmt: skip
def test_softmax_that_is_refused(inside, scales, opset, refusal, tmp_path):
    constants = {"as": np.float32(0.1), "az": np.int8(0), "ys": np.float32(1 / 256), "yz": np.int8(-128)} | scales
    kind = constants["yz"].dtype.name
    text = f"g (int8[1, 4, 2, 3] a) => ({kind}[1, 4, 2, 3] y) {{ {between(inside, 'a')} }}"
    with pytest.raises(InputError, match=refusal):
        read_network(write(tmp_path / "model.onnx", text, constants, opset=opset))
