"""Networks of narrow tensors as ONNX models of int8 operators, each followed by a Clip to the narrow range."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from systoliq.golden.network import Convolution, Dense, MaxPool, Move


def onnxruntime_tensors(net, x):
    """Every integer tensor by onnxruntime's kernels for bytes, for real inputs."""
    model = _model(net)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"real": x}), strict=True))


def _model(net):
    nodes, held = [], []

    def constant(array):
        name = f"c{len(held)}"
        held.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def counts(tensor):
        zero = np.array(tensor.zero_point, tensor.format.dtype)
        return constant(np.float32(tensor.scale)), constant(zero)

    def add(operator, inputs, tensor, **attributes):
        """The operator, and its results clipped: a saturation to bytes, then to the narrower format, is one to that."""
        nodes.append(helper.make_node(operator, inputs, [f"wide {tensor.name}"], **attributes))
        bounds = [constant(np.array(end, tensor.format.dtype)) for end in tensor.format.ends]
        nodes.append(helper.make_node("Clip", [f"wide {tensor.name}", *bounds], [tensor.name]))

    (source,) = net.sources
    add("QuantizeLinear", ["real", *counts(source.tensor)], source.tensor)
    for node in net.nodes:
        x, y = node.inputs[0], node.output
        taken, made = (_of_layer(node, letter, constant) for letter in "ay")
        if isinstance(node, Convolution):
            rows, columns = node.window.kernel
            w = node.layer.b.reshape(rows, columns, -1, node.layer.n).transpose(3, 2, 0, 1)
            add(
                "QLinearConv", [x.name, *taken, *_weights(node.layer, w, constant), *made, *_bias(node, constant)],
                y, group=node.groups, kernel_shape=[rows, columns], pads=list(node.window.pads),
                strides=list(node.window.strides),
            )  # fmt: skip
        elif isinstance(node, Dense):
            bias = _bias(node, constant)
            weights = _weights(node.layer, node.layer.b, constant)
            add("QGemm", [x.name, *taken, *weights, *(bias or [""]), *made], y, domain="com.microsoft")
        elif isinstance(node, MaxPool):
            window = node.window
            add("MaxPool", [x.name], y, kernel_shape=list(window.kernel), strides=list(window.strides))
        else:
            assert isinstance(node, Move)
            add("Reshape", [x.name, constant(np.array([-1, *y.shape[1:]]))], y)
    tensors = [source.tensor, *(node.output for node in net.nodes)]
    types = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}
    graph = helper.make_graph(
        nodes,
        "narrow",
        [helper.make_tensor_value_info("real", TensorProto.FLOAT, ["batch", *source.shape[1:]])],
        [
            helper.make_tensor_value_info(each.name, types[each.format.dtype.name], ["batch", *each.shape[1:]])
            for each in tensors
        ],
        held,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def _of_layer(node, letter, constant):
    """Scale and zero point of A or Y."""
    layer = getattr(node, "layer", None)
    if layer is None:
        return ()
    form = getattr(layer, f"{letter}_format")
    zero = np.array(getattr(layer, f"{letter}_zero_point"), form.dtype)
    return constant(np.float32(getattr(layer, f"{letter}_scale"))), constant(zero)


def _weights(layer, array, constant):
    zero = layer.b_zero_point.astype(layer.b_format.dtype)
    return constant(np.ascontiguousarray(array)), constant(layer.b_scale), constant(zero)


def _bias(node, constant):
    return [] if node.layer.bias is None else [constant(node.layer.bias)]
