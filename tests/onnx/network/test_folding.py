"""Constants that a model computes of constants, as exporters leave them, against onnxruntime; and which are refused."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.onnx import read_network, read_products

from .oracle import check, check_ends, write

_rng = np.random.default_rng(3)
CONSTANTS = {
    "s": np.float32(0.02), "z": np.int8(3), "ws": np.float32(0.01), "wz": np.int8(0), "os": np.float32(0.05),
    "wzn": np.zeros(4, np.int8),
    "wsn": _rng.uniform(0.005, 0.02, 4).astype(np.float32), "W": _rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
    "Wlast": _rng.integers(-127, 128, (3, 3, 3, 4)).astype(np.int8),
    "Wf": _rng.normal(0, 0.5, (4, 3, 3, 3)).astype(np.float32),
    "Wpart": _rng.integers(-127, 128, (2, 3, 3, 3)).astype(np.int8),
    "Wflat": _rng.integers(-127, 128, 108).astype(np.int8),
    "real": _rng.normal(0, 0.1, 4).astype(np.float32), "low": np.int8(-7), "high": np.int8(7), "four": np.int64([4]),
    "three": np.int64([3, 3, 3]), "zero": np.int64([0]), "rows": np.int64([0, 2, -1]), "zero0": np.int64(0),
    "minus": np.int64([-1]),
    "one": np.int64([1]), "places": np.int64([3, 0, 2, 1]), "two": np.float32(2), "lowf": np.float32(-0.3),
    "highf": np.float32(0.4), "many": np.int64([1 << 20, 1 << 20]), "huge": np.float32(3e9),
}  # fmt: skip
CONV = "h = Conv<pads = [1, 1, 1, 1]>(fx, fw) y = QuantizeLinear(h, os, z)"
DQ_W = "fw = DequantizeLinear(w, ws, wz)"

# nodes behind fx, from a DequantizeLinear, to y
CASES = {
    "bias of torch": """fw = DequantizeLinear(W, ws, wz) u = Mul(ws, s) n = Shape(u)
        bz = ConstantOfShape<value = int32[1] {0}>(n) q = Div(real, u) b = Cast<to = 6>(q)
        fb = DequantizeLinear(b, u, bz) h = Conv<pads = [1, 1, 1, 1]>(fx, fw, fb) y = QuantizeLinear(h, os, z)""",
    "scale per channel, bias rounded": """fw = DequantizeLinear<axis = 0>(W, wsn, bzn)
        u = Mul(s, wsn) n = Shape(wsn) i = Shape(u)
        bz = ConstantOfShape<value = int32[1] {0}>(n) bzn = ConstantOfShape<value = int8[1] {0}>(i)
        q = Div(real, u) r = Round(q) b = Cast<to = 6>(r) fb = DequantizeLinear<axis = 0>(b, u, bz)
        h = Conv<pads = [1, 1, 1, 1]>(fx, fw, fb) y = QuantizeLinear(h, os, z)""",
    "Clip of weights": f"w = Clip(W, low, high) {DQ_W} {CONV}",
    "Clip of quantized weights": f"q = QuantizeLinear(Wf, ws, wz) w = Clip(q, low, high) {DQ_W} {CONV}",
    "Clip before the quantizer": f"c = Clip(Wf, lowf, highf) w = QuantizeLinear(c, ws, wz) {DQ_W} {CONV}",
    "weights scaled": f"m = Mul(Wf, two) w = QuantizeLinear(m, ws, wz) {DQ_W} {CONV}",
    "Concat": f"w = Concat<axis = 0>(Wpart, Wpart) {DQ_W} {CONV}",
    "Split": f"a, b = Split<axis = 0>(W) w = Concat<axis = 0>(b, a) {DQ_W} {CONV}",
    "Gather": f"w = Gather(W, places) {DQ_W} {CONV}",
    "Slice and Expand": f"p = Slice(W, zero, one, zero) n = Shape(W) w = Expand(p, n) {DQ_W} {CONV}",
    "quantized twice, and copied": f"""d = DequantizeLinear<axis = 0>(W, wsn, wzn) i = Identity(d)
        w = QuantizeLinear(i, ws, wz) {DQ_W} {CONV}""",
    "channels last": f"w = Transpose<perm = [3, 2, 0, 1]>(Wlast) {DQ_W} {CONV}",
    "Reshape to a computed shape": f"n = Concat<axis = 0>(four, three) w = Reshape(Wflat, n) {DQ_W} {CONV}",
    "scale of a Sqrt": f"t = Mul(ws, ws) r = Sqrt(t) fw = DequantizeLinear(W, r, wz) {CONV}",
    "zero point of a Cast": """i = Cast<to = 6>(two) k = Cast<to = 3>(i) y0 = QuantizeLinear(h, os, k)
        fw = DequantizeLinear(W, ws, wz)
        h = Conv<pads = [1, 1, 1, 1]>(fx, fw) fy = DequantizeLinear(y0, os, k) y = QuantizeLinear(fy, s, z)""",
    "Where": f"e = Greater(Wf, lowf) c = Where(e, Wf, lowf) w = QuantizeLinear(c, ws, wz) {DQ_W} {CONV}",
    "as InstanceNormalization finds it": """fw = DequantizeLinear(W, ws, wz) h0 = Conv<pads = [1, 1, 1, 1]>(fx, fw)
        q = QuantizeLinear(h0, os, z) f = DequantizeLinear(q, os, z) n = Shape(f) r = Reshape(f, rows)
        rq = QuantizeLinear(r, os, z) fr = DequantizeLinear(rq, os, z) h1 = Reshape(fr, n)
        q1 = QuantizeLinear(h1, os, z) f1 = DequantizeLinear(q1, os, z) n1 = Shape(f1) r1 = Reshape(f1, rows)
        h = Reshape(r1, n1) y = QuantizeLinear(h, os, z)""",
    "flattened by its own shape": """fw = DequantizeLinear(W, ws, wz) h0 = Conv<pads = [1, 1, 1, 1]>(fx, fw)
        q = QuantizeLinear(h0, os, z) f = DequantizeLinear(q, os, z) n = Shape(h0)
        b = Gather(n, zero0) b1 = Unsqueeze(b, zero) t = Concat<axis = 0>(b1, minus) h = Reshape(f, t)
        y = QuantizeLinear(h, os, z)""",
}  # fmt: skip


def model(tmp_path, body):
    text = f"""g (float[1, 3, 6, 5] x) => (float[n] res) {{ xq = QuantizeLinear(x, s, z) fx = DequantizeLinear(xq, s, z)
        {body} res = DequantizeLinear(y, os, z) }}"""
    return write(tmp_path / "model.onnx", text, CONSTANTS, opset=13)


def images(count=6):
    return np.random.default_rng(5).normal(0, 1.5, (count, 3, 6, 5)).astype(np.float32)


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_constants_of_constants(body, tmp_path):
    path = model(tmp_path, body)
    network = read_network(path)
    compared, operators = check(path, network, {"x": images()})
    assert compared > 6 * 90
    assert "QLinearConv" in operators
    if "fy =" not in body:  # whose output has another scale
        assert check_ends(path, network, {"x": images()}) == 6 * 120


REFUSED = {
    "not defined to the last bit": (f"e = Exp(Wf) w = QuantizeLinear(e, ws, wz) {DQ_W} {CONV}",
        "the weights must be constant, not from Exp 'e', which is not folded: fold it first"),
    "too many": (f"n = ConstantOfShape(many) w = Cast<to = 3>(n) {DQ_W} {CONV}",
        "must have at most .* elements, not the shape"),
    "beyond the type": (f"m = Mul(Wf, huge) i = Cast<to = 6>(m) w = Cast<to = 3>(i) {DQ_W} {CONV}",
        "Cast 'i' must take numbers that fit the type it casts to"),
    "divided by 0": (f"d = Div(minus, zero) w = Gather(W, d) {DQ_W} {CONV}", "Div 'd' must not divide integers by 0"),
    "that onnx refuses": (f"w = Gather(W, many) {DQ_W} {CONV}", "the weights: Gather 'w' cannot be computed"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(body, text, tmp_path):
    with pytest.raises(InputError, match=text):
        read_network(model(tmp_path, body))


def test_a_product_by_itself(tmp_path):
    """Its constants are folded, too."""
    held = {**CONSTANTS, "V": np.arange(12, dtype=np.int8).reshape(4, 3)}
    text = """g (float[1, 4] x) => (float[1, 3] r) { xq = QuantizeLinear(x, s, z) fx = DequantizeLinear(xq, s, z)
        u = Mul(ws, two) w = Clip(V, low, high) fw = DequantizeLinear(w, u, wz) h = MatMul(fx, fw)
        y = QuantizeLinear(h, os, z) r = DequantizeLinear(y, os, z) }"""
    (product,) = read_products(write(tmp_path / "model.onnx", text, held))
    np.testing.assert_array_equal(product.layer.b, np.clip(held["V"], -7, 7))
    assert set(np.ravel(product.layer.b_scale)) == {np.float32(0.02)}
