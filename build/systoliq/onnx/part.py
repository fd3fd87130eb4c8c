"""Parts of a model as separate models for onnxruntime: one product with the host's part around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .graph import Graph

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["part_of"]


def part_of(graph: Graph, nodes: Sequence[NodeProto], x: str, y: str) -> bytes:
    """The model of `nodes` of `graph`, in the order in which they compute, from the float tensor `x` to the tensor `y`.

    Its input is called x and its output y; constants become initializers.
    """
    from onnx import TensorProto, helper, numpy_helper

    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    made = {name for node in nodes for name in node.output}
    constants = {name for node in nodes for name in node.input if name and name not in made and graph.is_constant(name)}
    for node in copies:
        node.input[:] = ["x" if name == x else name and f"t_{name}" for name in node.input]
        node.output[:] = ["y" if name == y else name and f"t_{name}" for name in node.output]
    kind = TensorProto.FLOAT if nodes[-1].op_type != "MatMulInteger" else TensorProto.INT32
    part = helper.make_graph(
        copies,
        "part",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.array(graph.constant(name, name)), f"t_{name}") for name in sorted(constants)],
    )
    model = helper.make_model(part, opset_imports=graph.opsets, ir_version=graph.ir_version)
    data: bytes = model.SerializeToString()
    return data
