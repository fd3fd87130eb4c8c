"""Models of float8 layers."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from systoliq.golden import combined_scale

from ..golden import float8_oracle as oracle
from .onnx_models import write
from .onnx_nodes import DQ_A, GEMM, MATMUL, Q_Y, nodes

POINTS = {"a_z": 100, "w_z": [0, 3, 90, 127, 64], "y_z": 20}  # of integers
GENERAL = {"a_s": np.float32(0.37), "w_s": np.float32([0.11, 3, 0.7, 0.013, 1]), "y_s": np.float32(0.29)}
POWERS = {"a_s": np.float32(2.0**-5), "w_s": np.ldexp(np.float32(1), [-4, -3, -6, -5, -2]), "y_s": np.float32(2.0**-7)}
DQ_PER_CHANNEL = "w = DequantizeLinear<axis = 1>(W, w_s, w_z)"
# What stands between xq and yq
QDQ = {
    "MatMul": nodes(DQ_A, DQ_PER_CHANNEL, MATMUL, Q_Y),
    "MatMul, no zero points": nodes(
        "x = DequantizeLinear(xq, a_s)", "w = DequantizeLinear<axis = 1>(W, w_s)", MATMUL, Q_Y),
    "MatMul, output_dtype": nodes(DQ_A, DQ_PER_CHANNEL, MATMUL, "yq = QuantizeLinear<output_dtype = {kind}>(y, y_s)"),
    "MatMul, transposed": nodes(
        DQ_A, "v = DequantizeLinear<axis = 0>(Wt, w_s, w_z)", "w = Transpose<perm = [1, 0]>(v)", MATMUL, Q_Y),
    "MatMul, float weights": nodes(
        DQ_A, "q = QuantizeLinear<axis = 1>(F, w_s, w_z)", DQ_PER_CHANNEL.replace("W", "q"), MATMUL, Q_Y),
    "Gemm": nodes(DQ_A, DQ_PER_CHANNEL, GEMM.replace(", c", ""), Q_Y),
    "Gemm, transB": nodes(DQ_A, "w = DequantizeLinear<axis = 0>(Wt, w_s, w_z)",
        "[fc] y = Gemm<transB = 1>(x, w)", Q_Y),
}  # fmt: skip


def codes(rng, name, shape, specials=0.0):
    """Codes of a type: all numbers, and now and then what is none."""
    if name in oracle.INTEGERS:
        return rng.integers(0, 256, shape).astype(np.uint8).view(name)
    found = rng.integers(0, 256, shape).astype(np.uint8)
    number = np.isfinite(oracle.values(name))[found] | (rng.random(shape) < specials)
    return np.where(number, found, 1).astype(np.uint8).view(oracle.dtype(name))


def few_bits(rng, name, shape):
    """Codes of small multiples of 1/8, so that float32 sums are exact: what numpy rounds to them. Or any integers."""
    if name in oracle.INTEGERS:
        return codes(rng, name, shape)
    return (rng.integers(-15, 16, shape) / np.float32(8)).astype(oracle.dtype(name))


def model(path, graph, types, a_scale, w_scale, y_scale, w, **changes):
    """A model in these types with weights `w`, and what its constants are called."""
    zeros = [np.zeros((), oracle.dtype(name)) for name in types]
    points = {key: np.array(point, name) for (key, point), name in zip(POINTS.items(), types, strict=True)
              if name in oracle.INTEGERS}  # fmt: skip
    fields = {
        "a_s": a_scale, "w_s": w_scale, "y_s": y_scale,
        "a_z": zeros[0], "w_z": np.broadcast_to(zeros[1], np.shape(w_scale)).copy(), "y_z": zeros[2],
        **points, "W": w, "Wt": np.ascontiguousarray(w.T),
        "F": ((w.astype(np.float32) - points.get("w_z", 0)) * w_scale).astype(np.float32),
    }  # fmt: skip
    kind = getattr(TensorProto, types[2].replace("_", "").upper())
    return write(path, graph.replace("{kind}", str(kind)), opset=21, ir=10, **fields | changes)


def in_onnxruntime(path, a):
    """The values of Y for codes `a`. Without fusions, which would make a QGemm that onnxruntime does not have."""
    graph = onnx.load(path)
    del graph.graph.input[:], graph.graph.output[:]  # numpy has no way in or out for float8
    kind = helper.np_dtype_to_tensor_dtype(a.dtype)
    graph.graph.initializer.append(helper.make_tensor("xq", kind, a.shape, a.tobytes(), raw=True))
    graph.graph.node.append(helper.make_node("Cast", ["yq"], ["value"], to=TensorProto.FLOAT))
    graph.graph.output.append(helper.make_tensor_value_info("value", TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {})[0]


def by_definition(a, w, scales, y_type):
    """The codes of Y, or integers, by exact integers."""
    a_point, w_point, y_point = (
        np.array(point, np.int64) if name in oracle.INTEGERS else 0
        for point, name in zip(POINTS.values(), (a.dtype.name, w.dtype.name, y_type), strict=True)
    )
    sums, scale = oracle.sums(a, a_point, w, w_point), np.broadcast_to(combined_scale(*scales), w.shape[1])
    output = oracle.Output(y_type, int(y_point))
    return np.array(
        [[output.round(oracle.times(row[n], 40, scale[n].item())) for n in range(len(row))] for row in sums]
    )
