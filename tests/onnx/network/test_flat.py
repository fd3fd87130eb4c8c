"""Rows of one image as the first dimension, as quantizers write a MatMul of three dimensions, against onnxruntime."""

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
}


def model(tmp_path, body):
    text = f"g (int8[1, 5, 6] a) => (int8[n] y) {{ fa = DequantizeLinear(a, as, az) {body} }}"
    return write(tmp_path / "model.onnx", text, CONSTANTS)


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
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


@pytest.mark.simulator
def test_in_verilog(tmp_path):
    design = NetworkDesign(read_network(model(tmp_path, CASES["Gemm"])))
    np.savez(tmp_path / "a.npz", a=np.random.default_rng(3).integers(-128, 128, (2, 5, 6)).astype(np.int8))
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed


REFUSED = {
    "Transpose": "Transpose<perm = [0, 1]>(t)",
    "Flatten": "Flatten(t)",
    "Concat": "Concat<axis = 1>(t, t)",
}


@pytest.mark.parametrize("node", REFUSED.values(), ids=REFUSED)
def test_refused(node, tmp_path):
    path = model(tmp_path, f"t = Reshape(fa, rows) k = {node} y = QuantizeLinear(k, as, az)")
    text = (
        r"its input 't' must have the batch, 1, as its first dimension, not the shape \[5, 6\]: reshape it back first"
    )
    with pytest.raises(InputError, match=text):
        read_network(path)
