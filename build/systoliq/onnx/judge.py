"""The outside judge: onnxruntime's QLinearMatMul, QGemm and MatMulInteger on the same integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer

from ..errors import InputError, need
from .runtime import Session, fused
from .unsaturated import unsaturated

__all__ = ["onnxruntime_output", "onnxruntime_run"]

_TYPES = {("int8", "int8", "int8"), ("uint8", "int8", "uint8"), ("uint8", "uint8", "uint8")}
_SUMMED = {("int8", "int8", "int32"), ("uint8", "int8", "int32"), ("uint8", "uint8", "int32")}


def onnxruntime_output(
    layer: MatMulLayer, a: npt.NDArray[Any], a_zero_point: npt.NDArray[Any] | None = None, *, exact: bool = False
) -> npt.NDArray[Any]:
    """onnxruntime's result for `a` [M, K]: QGemm if the layer has a bias, else QLinearMatMul.

    For a layer of int32 sums: MatMulInteger, and Add if it has a bias. Zero points [M, 1] that come with A take a call
    for each value, since onnxruntime supports one per call. With `exact`, the kernels do not saturate: see
    `unsaturated`.
    """
    types = (layer.a_format.name, layer.b_format.name, layer.y_format.name)
    if types not in _TYPES | _SUMMED:
        raise InputError(f"a, b and y must be of types that onnxruntime multiplies, not {', '.join(types)}")
    run = _session(_model(layer), exact=exact)
    if a_zero_point is None:
        return run({"a": a})
    y = np.zeros((len(a), layer.n), layer.y_format.dtype)
    for zero_point in np.unique(a_zero_point):
        rows = (a_zero_point == zero_point).reshape(-1)
        y[rows] = run({"a": a[rows], "a_zero_point": np.asarray(zero_point)})
    return y


def onnxruntime_run(model: bytes, inputs: dict[str, npt.NDArray[Any]], *, exact: bool = False) -> npt.NDArray[Any]:
    """The one output of `model`; with `exact`, its products by kernels that do not saturate: see `unsaturated`."""
    return _session(model, exact=exact)(inputs)


def _session(model: bytes, *, exact: bool) -> Callable[[dict[str, npt.NDArray[Any]]], npt.NDArray[Any]]:
    what = "the model for the comparison with onnxruntime"
    stated = unsaturated(fused(model, what)).SerializeToString() if exact else model
    session = Session(stated, what, as_it_is=exact)
    names = [each.name for each in session.outputs[:1]]
    return lambda inputs: np.asarray(session.run(names, inputs)[names[0]])


def _model(layer: MatMulLayer) -> bytes:
    """A model of the layer alone, which has `a` as its input and everything else as constants."""
    onnx = need("onnx", "onnx", "the comparison with onnxruntime")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    arrays, inputs = layer.arrays(), {"a": ["M", layer.k]}
    if layer.takes_zero_points:
        del arrays["a_format"]
        inputs["a_zero_point"] = []
    scalars = ["a_scale", "a_zero_point", "b", "b_scale", "b_zero_point"]
    domain = helper.make_opsetid("", 10)
    if layer.gives_sums:
        nodes = [helper.make_node("MatMulInteger", ["a", "b", "a_zero_point", "b_zero_point"], ["y"])]
        if layer.bias is not None:
            nodes[0].output[0] = "sums"
            nodes.append(helper.make_node("Add", ["sums", "bias"], ["y"]))
    elif layer.bias is None:
        node = helper.make_node("QLinearMatMul", ["a", *scalars, "y_scale", "y_zero_point"], ["y"])
        nodes = [node]
    else:
        names = ["a", *scalars, "bias", "y_scale", "y_zero_point"]
        node = helper.make_node("QGemm", names, ["y"], domain="com.microsoft")
        nodes = [node]
        domain = helper.make_opsetid("com.microsoft", 1)
    element = {"int8": onnx.TensorProto.INT8, "uint8": onnx.TensorProto.UINT8, "int32": onnx.TensorProto.INT32}
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info(name, element[layer.a_format.name], shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", element[layer.y_format.name], ["M", layer.n])],
        [numpy_helper.from_array(np.array(array), name) for name, array in arrays.items()],
    )
    opsets = [domain] if domain.domain == "" else [helper.make_opsetid("", 10), domain]
    model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return model
