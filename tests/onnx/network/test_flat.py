"""One image without a batch as the first dimension, as quantizers write a MatMul of three dimensions and PyTorch its
attention, against onnxruntime.
"""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.onnx import read_network

from .oracle import seen, session, write

CONSTANTS = {
    "as": np.float32(0.03), "az": np.int8(3), "ws": np.float32(0.007), "wz": np.int8(0), "ys": np.float32(0.2),
    "yz": np.int8(-128), "W": np.random.default_rng(1).integers(-127, 128, (6, 4)).astype(np.int8),
    "bias": np.random.default_rng(2).integers(-127, 128, 4).astype(np.int8), "rows": np.int64([5, 6]),
    "back": np.int64([1, 5, 4]), "zero": np.int64([0]), "all": np.int64([-1, 6]), "whole": np.int64([1, 20]),
    "last": np.int64(-1), "pair": np.int64([1, 0]), "two": np.int64([2, 3]), "start": np.int64([4]),
    "end": np.int64([-9]), "step": np.int64([-2]), "axis": np.int64([-1]), "twice": np.int64([2, 1, 3]),
    "wide": np.int64([5, 3, 6]), "four": np.int64([5, 1, 3, 2]), "six": np.int64([6]), "eleven": np.int64([11]),
    "ms": np.float32(0.011), "single": np.int64([1]), "image": np.int64([1, 5, 1, 6]),
}  # fmt: skip
PRODUCT = """fw = DequantizeLinear(W, ws, wz) h = Gemm(t, fw) g = Relu(h) b = QuantizeLinear(g, ys, yz)
    fb = DequantizeLinear(b, ys, yz)"""
CASES = {
    "Gemm": f"t = Reshape(fa, rows) {PRODUCT} r = Reshape(fb, back) y = QuantizeLinear(r, ys, yz)",
    "size of all": f"t = Reshape(fa, all) {PRODUCT} r = Reshape(fb, back) y = QuantizeLinear(r, ys, yz)",
    "Squeeze": f"t = Squeeze(fa, zero) {PRODUCT} r = Unsqueeze(fb, zero) y = QuantizeLinear(r, ys, yz)",
    "operators between": f"""t = Reshape(fa, rows) {PRODUCT} fc = DequantizeLinear(bias, ys, yz) k = Add(fb, fc)
        c = QuantizeLinear(k, ys, yz) fd = DequantizeLinear(c, ys, yz) r = Reshape(fd, whole)
        y = QuantizeLinear(r, ys, yz)""",
    "QOperator": """t = Reshape(a, rows) b = com.microsoft.QGemm(t, as, az, W, ws, wz, , ys, yz)
        c = com.microsoft.QLinearSigmoid(b, ys, yz, ys, yz)
        d = com.microsoft.QLinearAdd(c, ys, yz, bias, ys, yz, ys, yz)
        e = com.microsoft.QLinearMul(b, ys, yz, d, ys, yz, ys, yz) y = Reshape(e, back)""",
    "at the end": f"t = Reshape(fa, rows) {PRODUCT} k = Sigmoid(fb) y = QuantizeLinear(k, as, yz)",
    "product of four dimensions": """r = Reshape(fa, image) fw = DequantizeLinear(W, ws, wz) m = MatMul(r, fw)
        y = QuantizeLinear(m, ys, yz)""",
    "Flatten": f"t = Squeeze(fa, zero) {PRODUCT} k = Flatten<axis = 0>(fb) y = QuantizeLinear(k, ys, yz)",
}
FIRST = "f = Transpose<perm = [1, 0, 2]>(fa) t = QuantizeLinear(f, as, az) ft = DequantizeLinear(t, as, az)"
LAST = "k = Transpose<perm = [1, 0, 2]>(g) y = QuantizeLinear(k, as, az)"
ROWS_FIRST = {
    "product": """fw = DequantizeLinear(W, ws, wz) m = MatMul(ft, fw) h = Relu(m) b = QuantizeLinear(h, ys, yz)
        g = DequantizeLinear(b, ys, yz) k = Transpose<perm = [1, 0, 2]>(g) y = QuantizeLinear(k, ys, yz)""",
    "softmax along the rows": "g = Softmax<axis = 0>(ft) y = QuantizeLinear(g, ms, yz)",
    "softmax along a row": "g = Softmax<axis = 2>(ft) y = QuantizeLinear(g, ms, yz)",
    "sum": "h = Add(ft, fa) b = QuantizeLinear(h, as, az) y = ReduceMax<axes = [1]>(b)",
    "split and joined": f"p, q = Split<axis = 0>(ft, two) g = Concat<axis = 0>(q, p, q) {LAST}",
    "slice": f"g = Slice(ft, start, end, zero, step) {LAST}",
    "slice of the last": f"g = Slice(ft, start, end, axis, step) {LAST}",
    "gather": f"g = Gather<axis = 0>(ft, pair) {LAST}",
    "row": "g = Gather<axis = 0>(ft, last) y = QuantizeLinear(g, as, az)",
    "tile": f"g = Tile(ft, twice) {LAST}",
    "expand": "g = Expand(ft, wide) k = Transpose<perm = [2, 0, 1]>(g) y = QuantizeLinear(k, as, az)",
    "mean": "g = ReduceMean<axes = [0], keepdims = 0>(ft) y = QuantizeLinear(g, ms, az)",
    "mean of each row": "g = ReduceMean<axes = [-1], keepdims = 1>(ft) y = QuantizeLinear(g, ms, az)",
    "greatest": f"g = ReduceMax<axes = [0], keepdims = 1>(ft) {LAST}",
    "four dimensions": """h = Reshape(ft, four) g = Transpose<perm = [2, 1, 3, 0]>(h) b = QuantizeLinear(g, as, az)
        k = Transpose<perm = [1, 0, 3, 2]>(b) y = Gather<axis = 3>(k, pair)""",
    "a shape that onnx does not infer": """n = Mod(eleven, six) i = Concat<axis = 0>(n, six) h = Reshape(ft, i)
        b = QuantizeLinear(h, as, az) fb = DequantizeLinear(b, as, az) s = Softmax<axis = 0>(fb)
        y = QuantizeLinear(s, ms, yz)""",
}


def model(tmp_path, body):
    text = f"g (int8[1, 5, 6] a) => (int8[n] y) {{ fa = DequantizeLinear(a, as, az) {body} }}"
    return write(tmp_path / "model.onnx", text, CONSTANTS)


ALL = CASES | {name: f"{FIRST} {body}" for name, body in ROWS_FIRST.items()}


@pytest.mark.parametrize("body", ALL.values(), ids=ALL)
def test_flat(body, tmp_path):
    path = model(tmp_path, body)
    network = read_network(path)
    watched, names = seen(path, network)
    run = session(watched)
    a = np.random.default_rng(3).integers(-128, 128, (30, 5, 6)).astype(np.int8)
    golden = network.golden({"a": a})
    for image in range(len(a)):
        for name, expected in zip(names, run.run(names, {"a": a[image : image + 1]}), strict=True):
            found = golden[name][image]
            np.testing.assert_array_equal(found, expected.reshape(found.shape))
            assert expected.shape in (found.shape, (1, *found.shape))


def test_dimensions_of_1_move_without_a_memory(tmp_path):
    network = read_network(model(tmp_path, f"{FIRST} g = Abs(ft) {LAST}"))
    assert [node.kind for node in network.nodes] == ["reshape", "table", "reshape"]


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("case", ["Gemm", "product", "four dimensions"])
def test_in_verilog(case, tmp_path):
    design = NetworkDesign(read_network(model(tmp_path, ALL[case])))
    np.savez(tmp_path / "a.npz", a=np.random.default_rng(3).integers(-128, 128, (2, 5, 6)).astype(np.int8))
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed


REFUSED = {
    "Pad": (
        "Pad(t, back)",
        r"its input 't' must have the batch, 1, as its first dimension, not the shape \[5, 6\]: reshape it back first",
    ),
    "one dimension": ("Gather<axis = 0>(t, last)", r"must have at least two dimensions, not the shape \[6\]"),
    "one row beside others": (
        "Concat<axis = 0>(t, one)",
        r"must all have the batch as the first dimension, or none, not \[5, 6\], \[1, 6\]: transpose the batch",
    ),
    "axis": ("Gather<axis = 2>(t, zero)", "an axis must be one of the 2 dimensions, not 2"),
}


@pytest.mark.parametrize(("node", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(node, text, tmp_path):
    path = model(
        tmp_path, f"t = Reshape(fa, rows) one = Slice(t, zero, single, zero) k = {node} y = QuantizeLinear(k, as, az)"
    )
    with pytest.raises(InputError, match=text):
        read_network(path)
