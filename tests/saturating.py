"""onnxruntime as it is on x86 without VNNI, on any processor: its products of uint8 by int8 saturate.

Each such node of the graph that onnxruntime makes of a model becomes nodes that add the products of two neighbours
along K in 16 bits, saturated, as VPMADDUBSW does. `inference/test_saturating.py` compares this with onnxruntime's own
kernels, on a processor without VNNI that qemu emulates.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper, parser

__all__ = ["saturate", "saturate_sessions"]

DOMAIN = "saturating"
HEAD = f'<opset_import: ["": 13, "{DOMAIN}": 1], domain: "{DOMAIN}">'
SUMS = """Sums (a, z, b, v) => (y) {
    i = Cast<to = 6>(a)
    j = Cast<to = 6>(b)
    zi = Cast<to = 6>(z)
    vi = Cast<to = 6>(v)
    zero = Constant<value_ints = [0]>()
    one = Constant<value_ints = [1]>()
    two = Constant<value_ints = [2]>()
    end = Constant<value_ints = [1000000]>()
    last = Constant<value_ints = [-1]>()
    rows = Constant<value_ints = [-2]>()
    outer = Constant<value_ints = [-3]>()
    least = Constant<value = int32 {-32768}>()
    most = Constant<value = int32 {32767}>()
    i0 = Slice(i, zero, end, last, two)
    i1 = Slice(i, one, end, last, two)
    j0 = Slice(j, zero, end, rows, two)
    j1 = Slice(j, one, end, rows, two)
    a0 = Unsqueeze(i0, last)
    a1 = Unsqueeze(i1, last)
    b0 = Unsqueeze(j0, outer)
    b1 = Unsqueeze(j1, outer)
    p0 = Mul(a0, b0)
    p1 = Mul(a1, b1)
    pairs = Add(p0, p1)
    clipped = Clip(pairs, least, most)
    sums = ReduceSum<keepdims = 0>(clipped, rows)
    d = Sub(i, zi)
    of_rows = ReduceSum<keepdims = 1>(d, last)
    of_columns = ReduceSum<keepdims = 1>(j, rows)
    vd = Mul(vi, of_rows)
    zb = Mul(zi, of_columns)
    less = Sub(sums, vd)
    y = Sub(less, zb)
}"""
REAL = """Real (a, z, b, v, s, t, bias) => (y) {
    sums = saturating.Sums(a, z, b, v)
    real = Cast<to = 1>(sums)
    scale = Mul(s, t)
    scaled = Mul(real, scale)
    y = Add(scaled, bias)
}"""
QUANTIZED = """Quantized (a, z, b, v, s, t, bias, u, w, least, most) => (y) {
    sums = saturating.Sums(a, z, b, v)
    all = Add(sums, bias)
    real = Cast<to = 1>(all)
    product = Mul(s, t)
    scale = Div(product, u)
    scaled = Mul(real, scale)
    whole = Round(scaled)
    zero_point = Cast<to = 1>(w)
    moved = Add(whole, zero_point)
    clipped = Clip(moved, least, most)
    y = Cast<to = 2>(clipped)
}"""


def saturate(model: onnx.ModelProto) -> onnx.ModelProto:
    """`model`, whose operators are onnxruntime's, with saturating products of uint8 by int8. K must be even."""
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    inferred = onnx.shape_inference.infer_shapes(model).graph
    types |= {info.name: info.type.tensor_type.elem_type for info in (*inferred.value_info, *inferred.input)}
    nodes = [each for node in model.graph.node for each in _nodes(node, types)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    constants = {
        "sat_u8": np.uint8(0), "sat_s8": np.int8(0), "sat_i": np.int32(0), "sat_f": np.float32(0),
        "sat_least": np.float32(0), "sat_most": np.float32(255),
    }  # fmt: skip
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(c), name) for name, c in constants.items())
    model.functions.extend(parser.parse_function(HEAD + text) for text in (SUMS, REAL, QUANTIZED))
    for opset in model.opset_import:
        opset.version = max(opset.version, 13) if opset.domain == "" else opset.version  # as the functions need
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return model


def _nodes(node: onnx.NodeProto, types: dict[str, int]) -> list[onnx.NodeProto]:
    name = [*node.input, *[""] * 9]
    operator, before, rest = node.op_type, [], []
    if operator in ("QLinearMatMul", "QGemm"):
        a, s, z, b, t, v = name[:6]
        bias, u, w = name[6:9] if operator == "QGemm" else ("", *name[6:8])
        function, rest = "Quantized", [s, t, bias or "sat_i", u, w, "sat_least", "sat_most"]
        if any(given.name == "transB" and given.i for given in node.attribute):
            before, b = [helper.make_node("Transpose", [b], [f"{node.output[0]}_turned"], perm=[1, 0])], b
    elif operator == "MatMulInteger":
        a, b, z, v = name[:4]
        function = "Sums"
    elif operator == "MatMulIntegerToFloat":
        a, b, s, t, z, v, bias = name[:7]
        function, rest = "Real", [s, t, bias or "sat_f"]
    elif operator == "DynamicQuantizeMatMul":
        x, b, t, v, bias = name[:5]
        a, s, z = (f"{node.output[0]}_{part}" for part in ("a", "s", "z"))
        before = [helper.make_node("DynamicQuantizeLinear", [x], [a, s, z])]
        function, rest = "Real", [s, t, bias or "sat_f"]
    else:
        return [node]
    signed = onnx.TensorProto.INT8
    if types.get(b) != signed or signed in (types.get(a), types.get(z)):
        return [node]
    b = before[0].output[0] if before and before[0].op_type == "Transpose" else b
    inputs = [a, z or "sat_u8", b, v or "sat_s8", *rest]
    return [*before, helper.make_node(function, inputs, node.output, domain=DOMAIN)]


def saturate_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, sessions of onnxruntime saturate."""
    real = onnxruntime.InferenceSession

    def options(source: onnxruntime.SessionOptions | None = None) -> onnxruntime.SessionOptions:
        made = onnxruntime.SessionOptions()
        made.log_severity_level = 4
        made.add_session_config_entry("session.qdqisint8allowed", "1")
        return made

    def session(model: str | bytes, asked: onnxruntime.SessionOptions, **more: Any) -> onnxruntime.InferenceSession:
        if asked.optimized_model_filepath:
            return real(model, asked, **more)
        disabled = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        as_it_is = asked.graph_optimization_level == disabled
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.onnx"
            if as_it_is:
                file.write_bytes(Path(model).read_bytes() if isinstance(model, str) else model)
            else:
                fusing = options()
                fusing.optimized_model_filepath = str(file)
                real(model, fusing, **more)
            found = onnx.load(file)
        plain = options()
        plain.graph_optimization_level = disabled
        return real(saturate(found).SerializeToString(), plain, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
