"""Operators in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx builds the models for onnxruntime")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is the reference here")


def run(operator, y_type, *inputs, domain=""):
    """The output of onnxruntime's one-node model of `operator` on `inputs`, in their order."""
    names = [f"x{index}" for index in range(len(inputs))]
    inputs = [np.asarray(value) for value in inputs]

    def info(name, dtype, shape):
        return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, names, ["y"], domain=domain)],
        operator,
        [info(name, value.dtype, value.shape) for name, value in zip(names, inputs, strict=True)],
        [info("y", y_type, None)],
    )
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs, strict=True)))[0]
