"""A layer from a quantized ONNX model: list its products, take one, compare the hardware with onnxruntime.

    python examples/layer_from_onnx.py [DIR]

DIR (out/examples/onnx) gets the model and the package. Needs Icarus Verilog and `pip install 'systoliq[demo]'`, that is
onnx and onnxruntime.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from systoliq.api import LayerDesign, LayerOptions, read_onnx, read_products, write_package

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/examples/onnx")
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)

# A model as a quantizer writes it in QDQ form: MatMul between DequantizeLinear and QuantizeLinear, with a bias.
constants = {
    "a_scale": np.float32(0.03),
    "a_zero": np.uint8(117),
    "weights": rng.integers(-64, 65, (32, 8)).astype(np.int8),
    "b_scale": np.float32(0.01),
    "b_zero": np.int8(0),
    "bias": rng.integers(-3000, 3000, 8).astype(np.int32),
    "bias_scale": np.float32(0.03) * np.float32(0.01),
    "bias_zero": np.int32(0),
    "y_scale": np.float32(0.06),
    "y_zero": np.uint8(131),
}
nodes = [
    helper.make_node("DequantizeLinear", ["x", "a_scale", "a_zero"], ["a_real"]),
    helper.make_node("DequantizeLinear", ["weights", "b_scale", "b_zero"], ["b_real"]),
    helper.make_node("DequantizeLinear", ["bias", "bias_scale", "bias_zero"], ["bias_real"]),
    helper.make_node("Gemm", ["a_real", "b_real", "bias_real"], ["y_real"], name="/fc/Gemm"),
    helper.make_node("QuantizeLinear", ["y_real", "y_scale", "y_zero"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "example",
    [helper.make_tensor_value_info("x", TensorProto.UINT8, ["M", 32])],
    [helper.make_tensor_value_info("y", TensorProto.UINT8, ["M", 8])],
    [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, folder / "model.onnx")

for product in read_products(folder / "model.onnx"):
    print(f"{product.operator} {product.name} ({product.pattern}): {product.shape}, {product.reason or 'taken'}")

layer = read_onnx(folder / "model.onnx", "/fc/Gemm")
design = LayerDesign(layer, LayerOptions(cols=4, depth=8), origin="examples/layer_from_onnx.py")
x = rng.integers(0, 256, (50, 32)).astype(np.uint8)
y = design.simulate(x, simulator="icarus").check().y

session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
(expected,) = session.run(["y"], {"x": x})
print(f"{np.count_nonzero(y != expected)} of {y.size} outputs differ from onnxruntime {onnxruntime.__version__}")
write_package(design, folder / "fc")
