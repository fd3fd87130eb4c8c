"""Small ONNX models for the tests, written in ONNX's text form, and what onnxruntime makes of them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

K, N = 12, 5

# Between quantized `xq` and `yq`: what the scenarios have in common. W has 7 bits, because onnxruntime saturates inside
# for u8 x s8 on machines with AVX2 but without VNNI.
_generator = np.random.default_rng(7)
CONSTANTS: dict[str, Any] = {
    "a_s": np.float32(0.03),
    "a_z": np.uint8(117),
    "W": _generator.integers(-64, 65, (K, N)).astype(np.int8),
    "w_s": np.float32(0.011),
    "w_z": np.int8(0),
    "w_sn": _generator.uniform(0.005, 0.02, N).astype(np.float32),
    "w_zn": np.zeros(N, np.int8),
    "bias": _generator.integers(-3000, 3000, N).astype(np.int32),
    "bias_z": np.int32(0),
    "y_s": np.float32(0.17),
    "y_z": np.uint8(131),
}
CONSTANTS |= {
    "Wt": np.ascontiguousarray(CONSTANTS["W"].T),
    "bias_s": np.float32(CONSTANTS["a_s"] * CONSTANTS["w_s"]),
    "bias_sn": (CONSTANTS["a_s"] * CONSTANTS["w_sn"]).astype(np.float32),
}


def write(path: Path, nodes: str, *, opset: int = 13, ir: int = 8, rows: str = "M", **changes: Any) -> Path:
    """A model of `nodes` between `xq` [rows, K] and `yq`, with those of `CONSTANTS` (and `changes`) that it names."""
    constants = CONSTANTS | changes
    kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(np.asarray(constants[name]).dtype) for name in ("a_z", "y_z")}
    a, y = (onnx.TensorProto.DataType.Name(kinds[name]).lower() for name in ("a_z", "y_z"))
    text = f"""<ir_version: {ir}, opset_import: ["": {opset}, "com.microsoft": 1]>
        g ({a}[{rows}, {K}] xq) => ({y}[{rows}, {N}] yq) {{ {nodes} }}"""
    placeholder = constants.pop("placeholder", None)  # of a type that the text form cannot write
    model = onnx.parser.parse_model(text.replace("value = placeholder", "value = int8 {0}"))
    if placeholder is not None:
        next(node for node in model.graph.node if node.op_type == "Constant").attribute[0].t.CopyFrom(placeholder)
    bodies = [given.g.node for node in model.graph.node for given in node.attribute]
    used = {name for node in itertools.chain(model.graph.node, *bodies) for name in node.input}
    initializers = (onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items() if k in used)
    model.graph.initializer.extend(initializers)
    onnx.save(model, path)
    return path


def run(path: Path | bytes, inputs: dict[str, Any]) -> tuple[list[Any], set[str]]:
    """Outputs of onnxruntime's session, and the operators of the graph that it ran, after its fusions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.qdqisint8allowed", "1")  # fuse int8 activations on x86 as well
    fused = Path(path).with_suffix(".fused")
    options.optimized_model_filepath = str(fused)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
    with fused.open("rb") as file:
        return outputs, {node.op_type for node in onnx.load(file, format="protobuf").graph.node}
