"""Products of two computed tensors, moves of heads, means over tokens: onnxruntime's integers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.golden.network import MatrixProduct
from systoliq.onnx import read_network

from .operator_models import between, codes, compare
from .oracle import write

QLINEAR = "y = QLinearMatMul(a, as, az, b, bs, bz, ys, yz)"
TWO = between("f = MatMul(fa, fb)", "a", "b")


def drawn(rng, a: str, b: str, y: str, depth: int) -> dict[str, np.generic]:
    kinds = {"a": a, "b": b, "y": y}
    found = {f"{name}z": rng.choice(codes(kind)) for name, kind in kinds.items()}
    found |= {f"{name}s": np.float32(rng.uniform(0.01, 0.05)) for name in "ab"}
    return found | {"ys": np.float32(found["as"] * found["bs"] * np.sqrt(depth) * rng.uniform(20, 90))}


@pytest.mark.parametrize("form", ["QDQ", "QLinear"])
@pytest.mark.parametrize(("a", "b"), [("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8")])
@pytest.mark.parametrize(("left", "right"), [((3, 7, 5), (3, 5, 4)), ((3, 2, 6, 8), (3, 2, 8, 3))])
def test_products(left, right, a, b, form, tmp_path):
    rng = np.random.default_rng(len(left))
    text = [", ".join(map(str, ["N", *shape[1:]])) for shape in (left, right, (*left[:-1], right[-1]))]
    head = f"g ({a}[{text[0]}] a, {b}[{text[1]}] b) => ({a}[{text[2]}] y)"
    inputs = {"a": rng.choice(codes(a), left), "b": rng.choice(codes(b), right)}
    if (a, b) == ("uint8", "int8"):
        inputs["b"] //= 2  # 7 bits: onnxruntime saturates on processors without VNNI
    network, operators = compare(
        tmp_path, head, TWO if form == "QDQ" else QLINEAR, drawn(rng, a, b, a, left[-1]), inputs
    )
    assert operators <= {"QLinearMatMul", "DynamicQuantizeMatMul"} or operators == {"QLinearMatMul"}
    assert sum(isinstance(node, MatrixProduct) for node in network.nodes) == 1


HEADS = """
        qkv = Reshape(a, split) q5, k5, v5 = Split<axis = 2>(qkv, one)
        q4 = Transpose<perm = [2, 0, 3, 1, 4]>(q5) k4 = Transpose<perm = [2, 0, 3, 4, 1]>(k5)
        v4 = Transpose<perm = [2, 0, 3, 1, 4]>(v5) q = Squeeze(q4, zero) k = Squeeze(k4, zero) v = Squeeze(v4, zero)
        fq = DequantizeLinear(q, as, az) fk = DequantizeLinear(k, as, az) fv = DequantizeLinear(v, as, az)
        s = MatMul(fq, fk) qs = QuantizeLinear(s, ss, sz) fs = DequantizeLinear(qs, ss, sz) p = Softmax(fs)
        qp = QuantizeLinear(p, ps, pz) fp = DequantizeLinear(qp, ps, pz) m = MatMul(fp, fv)
        qm = QuantizeLinear(m, ys, yz) t = Transpose<perm = [0, 2, 1, 3]>(qm) y = Reshape(t, joined)"""
# As PyTorch exports nn.MultiheadAttention: rows first, the three tensors by Gather.
ROWS_FIRST = """
        r = Transpose<perm = [1, 0, 2]>(a) u = Reshape(r, five) m = Transpose<perm = [3, 1, 2, 0, 4]>(u)
        three = Squeeze(m, third) q1 = Gather<axis = 0>(three, i0) k1 = Gather<axis = 0>(three, i1)
        v1 = Gather<axis = 0>(three, i2) q4 = Reshape(q1, heads) k4 = Reshape(k1, heads) v4 = Reshape(v1, heads)
        q = Transpose<perm = [1, 2, 0, 3]>(q4) k = Transpose<perm = [1, 2, 3, 0]>(k4)
        v = Transpose<perm = [1, 2, 0, 3]>(v4)
        fq = DequantizeLinear(q, as, az) fk = DequantizeLinear(k, as, az) fv = DequantizeLinear(v, as, az)
        s = MatMul(fq, fk) qs = QuantizeLinear(s, ss, sz) fs = DequantizeLinear(qs, ss, sz) p = Softmax(fs)
        qp = QuantizeLinear(p, ps, pz) fp = DequantizeLinear(qp, ps, pz) n = MatMul(fp, fv)
        qm = QuantizeLinear(n, ys, yz) t = Transpose<perm = [2, 0, 1, 3]>(qm) j = Reshape(t, first)
        y = Transpose<perm = [1, 0, 2]>(j)"""
HEADS_CONSTANTS = {
    "five": np.array([1, 6, 1, 3, 8]), "third": np.array([-2]), "i0": np.int64(0), "i1": np.int64(1),
    "i2": np.int64(-1), "heads": np.array([6, 1, 2, 4]), "first": np.array([6, 1, 8]),
    "split": np.array([1, 6, 3, 2, 4]), "one": np.array([1, 1, 1]), "zero": np.array([0]),
    "joined": np.array([1, 6, 8]), "as": np.float32(0.03), "az": np.int8(5), "ss": np.float32(0.05),
    "sz": np.int8(-3), "ps": np.float32(1 / 256), "pz": np.int8(-128), "ys": np.float32(0.02), "yz": np.int8(9),
}  # fmt: skip
HEADS_HEAD = "g (int8[1, 6, 24] a) => (int8[1, 6, 8] y)"


@pytest.mark.parametrize("body", [HEADS, ROWS_FIRST], ids=["batch first", "rows first"])
def test_heads_of_attention(body, tmp_path):
    """Three tensors of one, their heads first, the second turned: scores, softmax, and their product."""
    inputs = {"a": np.random.default_rng(3).choice(codes("int8"), (8, 6, 24))}
    network, _ = compare(tmp_path, HEADS_HEAD, body, HEADS_CONSTANTS, inputs)
    assert [node.kind for node in network.nodes if isinstance(node, MatrixProduct)] == [
        "2 products 6 x 4 x 6",
        "2 products 6 x 6 x 4",
    ]


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("body", [HEADS, ROWS_FIRST], ids=["batch first", "rows first"])
def test_heads_of_attention_in_verilog(body, tmp_path):
    text = f"{HEADS_HEAD} {{ {body} }}"
    design = NetworkDesign(read_network(write(tmp_path / "model.onnx", text, HEADS_CONSTANTS)))
    np.savez(tmp_path / "a.npz", a=np.random.default_rng(4).choice(codes("int8"), (3, 6, 24)))
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed


@pytest.mark.parametrize("keepdims", [0, 1])
def test_mean_of_tokens(keepdims, tmp_path):
    """Of as many tokens as an odd number, at scales without ties."""
    rng = np.random.default_rng(keepdims)
    constants = {"as": np.float32(0.031), "az": np.int8(-9), "ys": np.float32(0.0123), "yz": np.int8(4)}
    shape = "1, 1, 8" if keepdims else "1, 8"
    body = between(f"f = ReduceMean<axes = [1], keepdims = {keepdims}>(fa)", "a")
    inputs = {"a": rng.choice(codes("int8"), (50, 7, 8))}
    network, _ = compare(tmp_path, f"g (int8[1, 7, 8] a) => (int8[{shape}] y)", body, constants, inputs)
    assert "average of all 7 pixels" in [node.kind for node in network.nodes]


@pytest.mark.parametrize(
    ("a", "b", "inside", "refusal"),
    [
        ("1, 2, 6, 8", "1, 1, 8, 3", "f = MatMul(fa, fb)", "matrices .* with the same dimensions before them"),
        ("1, 6, 8", "8, 3", "f = MatMul(fa, fb)", "matrices .* with the same dimensions before them"),
        ("6, 8", "8, 3", "f = MatMul(fa, fb)", "matrices .* with the same dimensions before them"),
        ("1, 8, 8", "1, 8, 8", "f = MatMul(fa, fa)", "its inputs must be two tensors, not 'a' twice"),
    ],
)
def test_products_that_are_refused(a, b, inside, refusal, tmp_path):
    constants = drawn(np.random.default_rng(0), "int8", "int8", "int8", 8)
    text = f"g (int8[{a}] a, int8[{b}] b) => (int8[n, m] y) {{ {between(inside, 'a', 'b')} }}"
    with pytest.raises(InputError, match=refusal):
        read_network(write(tmp_path / "model.onnx", text, constants))
