"""Products in QDQ form whose result stays float: int32 sums in hardware, and onnxruntime's real results behind them."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest

from systoliq.onnx import read_products

from .onnx_models import CONSTANTS, K, N, run, write

DQ_A = "x = DequantizeLinear(xq, a_s, a_z)"
DQ_W = "w = DequantizeLinear(W, w_s, w_z)"
DQ_WN = "w = DequantizeLinear<axis = 1>(W, w_sn, w_zn)"
DQ_C = "c = DequantizeLinear(bias, bias_s, bias_z)"
DQ_CN = "c = DequantizeLinear<axis = 0>(bias, bias_sn, bias_zn)"
MATMUL, GEMM = "[fc] y = MatMul(x, w)", "[fc] y = Gemm(x, w, c)"
RNG = np.random.default_rng(3)

GRAPHS = {  # and the operator that onnxruntime makes of it
    "MatMul": ([DQ_A, DQ_W, MATMUL], {}, "MatMulIntegerToFloat"),
    "MatMul, per channel": ([DQ_A, DQ_WN, MATMUL], {}, "MatMulIntegerToFloat"),
    "Gemm": ([DQ_A, DQ_W, "[fc] y = Gemm(x, w)"], {}, "QGemm"),
    "Gemm, bias": ([DQ_A, DQ_W, DQ_C, GEMM], {}, "QGemm"),
    "Gemm, bias, per channel": ([DQ_A, DQ_WN, DQ_CN, GEMM], {}, "QGemm"),
    "Gemm, int8": ([DQ_A, DQ_WN, DQ_CN, GEMM], {"a_z": np.int8(-11), "y_z": np.int8(0)}, "QGemm"),
    "for two": ([DQ_A, DQ_W, MATMUL, "r = Relu(y)", "q = Sigmoid(y)"], {}, "MatMulIntegerToFloat"),
}


def model(path, lines, **changes):
    """Between `xq` and the float tensor `y`."""
    write(path, "\n".join([*lines, "yq = Cast<to = 2>(xq)"]), **{"bias_zn": np.zeros(N, np.int32)} | changes)
    made = onnx.load(path)
    del made.graph.node[-1]
    made.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["M", N]))
    onnx.save(made, path)
    return path


@pytest.mark.parametrize(("lines", "changes", "operator"), GRAPHS.values(), ids=GRAPHS)
def test_sums_and_their_scale_give_the_result(lines, changes, operator, tmp_path):
    path = model(tmp_path / "m.onnx", lines, **changes)
    (product,) = read_products(path)
    layer, host = product.layer, product.host
    a = RNG.integers(layer.a_format.min, layer.a_format.max, (2000, K), endpoint=True).astype(layer.a_format.dtype)
    (y,), operators = run(path, {"xq": a})
    assert operator in operators
    assert layer.gives_sums
    found = host.finish(layer.golden(a), layer.a_scale)
    np.testing.assert_array_equal(found.view(np.uint32), y.view(np.uint32))
    np.testing.assert_array_equal(layer.golden(a).astype(np.float32) * layer.sum_scale, found)
    assert (layer.bias is not None) == ("c)" in lines[-1])


@pytest.mark.simulator
def test_real_numbers_through_the_verilog(call, tmp_path):
    """Quantized by the model's QuantizeLinear; `sums` are the hardware's, `y` is the model's, to the bit."""
    lines = ["xq8 = QuantizeLinear(real, a_s, a_z)", DQ_A.replace("xq", "xq8"), DQ_WN, DQ_CN, GEMM]
    path = model(tmp_path / "m.onnx", lines)
    made = onnx.load(path)
    made.graph.input[0].CopyFrom(onnx.helper.make_tensor_value_info("real", onnx.TensorProto.FLOAT, ["M", K]))
    onnx.save(made, path)
    x = RNG.normal(0, 2, (30, K)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    options = ["--input", tmp_path / "x.npz", "--quantize", "--simulator", "icarus", "--compare", "onnxruntime"]
    result = call("simulate", path, *options, "--output", tmp_path / "y.npz", "--report", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "r.json").read_text())["onnxruntime_mismatches"] == 0
    (y,), _ = run(path, {"real": x})
    found = np.load(tmp_path / "y.npz")
    np.testing.assert_array_equal(found["y"].view(np.uint32), y.view(np.uint32))
    a = np.clip(np.rint(x / CONSTANTS["a_s"]) + np.float32(CONSTANTS["a_z"]), 0, 255).astype(int) - CONSTANTS["a_z"]
    np.testing.assert_array_equal(found["sums"], a @ CONSTANTS["W"].astype(int) + CONSTANTS["bias"])
    line = call("layers", path).stdout.splitlines()[1]
    assert " ".join(line.split()) == "fc QDQ Gemm M x 12 x 5 uint8 x int8 -> int32 per channel int32"
