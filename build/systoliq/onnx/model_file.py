"""Model files: the one place where the `onnx` library reads them.

Sizes in a file are limited before memory is allocated, and any error of the library becomes an InputError that names
the file.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, need
from .catalogue import CATALOGUE
from .functions import all_nodes, expanded_size
from .library import library
from .names import check_names
from .node import is_operator
from .order import sort_nodes
from .other_frameworks import refuse_other_frameworks
from .shapes import with_shapes
from .wire import count_pieces

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["MODEL_BYTES", "MODEL_NODES", "MODEL_PIECES", "inferred", "read_model"]

MODEL_BYTES = 1 << 28
"""Largest size of a model's file, without external data: 256 MiB; the library makes several copies."""

MODEL_PIECES = 1 << 20
"""Largest number of fields in a model's file; each takes memory."""

MODEL_NODES = 20_000
"""Largest number of nodes of a model; nodes of functions count once for each call."""


def read_model(path: Path) -> ModelProto:
    """The checked model in the file `path`, with nodes in order of computation, without functions, and with inferred
    shapes where possible; external data are not read.
    """
    onnx = need("onnx", "onnx", "reading ONNX models", extra="onnx")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise InputError(f"{path}: must be a regular file")
    if (size := path.stat().st_size) > MODEL_BYTES:
        raise InputError(f"{path}: must have at most {MODEL_BYTES} bytes, not {size}: put its data beside it")
    refuse_other_frameworks(path)
    data = path.read_bytes()
    if not data:
        raise InputError(f"{path}: must be a valid ONNX model, and is empty")
    if count_pieces(data, onnx.ModelProto.DESCRIPTOR, MODEL_PIECES) > MODEL_PIECES:
        raise InputError(f"{path}: must have at most {MODEL_PIECES} fields, and has more")
    with library(f"{path}: must be a valid ONNX model"):
        model: ModelProto = onnx.ModelProto.FromString(data)
    try:
        check_names(model)
        count = expanded_size(model)
        moved = count <= MODEL_NODES and sort_nodes(model)
    except InputError as error:
        raise InputError(f"{path}: must be a valid ONNX model ({error})") from error
    if count > MODEL_NODES:
        raise InputError(f"{path}: must have at most {MODEL_NODES} nodes, not {count}")
    with library(f"{path}: must be a valid ONNX model"):
        onnx.checker.check_model(_without_data(model) if moved else str(path))
        if model.functions:
            model = need("onnx.inliner", "onnx", "models with functions", extra="onnx").inline_local_functions(model)
    for node in all_nodes(model.graph.node):
        if not any(node.output):
            raise InputError(f"{path}: must be a valid ONNX model ({node.op_type} {node.name!r} has no output)")
    return _without_copies(_without_idle_casts(inferred(model)))


def _without_idle_casts(model: ModelProto) -> ModelProto:
    """`model` with an Identity for each Cast to the type that its input has, as exporters of PyTorch write them."""
    graph = model.graph
    types = {info.name: info.type.tensor_type.elem_type for info in (*graph.value_info, *graph.input)}
    types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    for node in graph.node:
        if is_operator(node, "Cast"):
            kind = next(each.i for each in node.attribute if each.name == "to")
            if kind == types.get(node.input[0]):
                node.op_type = "Identity"
                del node.attribute[:]
    return model


def _without_copies(model: ModelProto) -> ModelProto:
    """`model` without each Identity of what a DequantizeLinear makes of a constant, as quantizers leave them where
    PyTorch's exporter writes one constant for several layers.
    """
    graph = model.graph
    leaving = {info.name for info in graph.output}
    held = {tensor.name for tensor in graph.initializer}
    held |= {name for node in graph.node if node.op_type == "Constant" for name in node.output}
    origins: dict[str, str] = {}  # of a constant's real numbers, by the names of their copies
    for node in all_nodes(graph.node):
        for place, name in enumerate(node.input):
            node.input[place] = origins.get(name, name)
        if is_operator(node, "DequantizeLinear") and node.input[0] in held:
            origins[node.output[0]] = node.output[0]
        elif is_operator(node, "Identity") and node.input[0] in origins and node.output[0] not in leaving:
            origins[node.output[0]] = node.input[0]
    for place in reversed(range(len(graph.node))):
        if is_operator(graph.node[place], "Identity") and graph.node[place].output[0] in origins:
            del graph.node[place]
    return model


def _without_data(model: ModelProto) -> ModelProto:
    """A copy of `model` for the checker, which looks for data outside the file where it does not lie: the tensors that
    have any are empty. `constant_of` checks the data.
    """
    from onnx import TensorProto

    copy: ModelProto = type(model).FromString(model.SerializeToString())
    nodes = [*all_nodes(copy.graph.node), *(node for each in copy.functions for node in all_nodes(each.node))]
    given = [each for node in nodes for each in node.attribute]
    graphs = [copy.graph, *(graph for each in given for graph in (each.g, *each.graphs))]
    sparse = [each for graph in graphs for each in graph.sparse_initializer]
    held = [tensor for graph in graphs for tensor in graph.initializer]
    held += [tensor for each in sparse for tensor in (each.values, each.indices)]
    held += [tensor for each in given for tensor in (each.t, *each.tensors)]
    for tensor in held:
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor.ClearField("data_location")
            tensor.ClearField("external_data")
            tensor.dims[:] = [0]
    return copy


def inferred(model: ModelProto) -> ModelProto:
    """`model` with inferred shapes where possible, else the shapes that the file states."""
    with contextlib.suppress(InputError), library("its shapes"):
        return with_shapes(model, CATALOGUE)
    return model
