"""Models whose products of uint8 by int8 are stated as products of uint8 by uint8: the same numbers, other kernels.

On x86 with AVX2 or AVX-512 and without VNNI, onnxruntime's kernels for uint8 by int8 add the products of two neighbours
along K in 16 bits, with saturation (VPMADDUBSW): 2 * 255 * 127 already exceeds 32,767. The result then violates the
operator's definition. Kernels for uint8 by uint8 add in 32 bits. As b - b_zero_point stays the same where 128 is added
to both, onnxruntime itself gives the exact result of the same product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .catalogue import CATALOGUE
from .graph import Graph
from .model_file import inferred
from .operator import Operator
from .rebuilt import rebuilt

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["unsaturated"]

_PREFIX = "systoliq/uint8"  # of the names that are added
_OFFSET, _ZERO = f"{_PREFIX}_offset", f"{_PREFIX}_zero"


def unsaturated(model: ModelProto, only: Collection[str] | None = None) -> ModelProto:
    """Return `model`, as onnxruntime fuses it, with uint8 in place of int8 in each product of uint8 by int8.

    `only` restricts this to nodes with these first outputs. Every other node stays as it is.
    """
    graph = Graph(inferred(model), Path())  # asked for types only
    nodes: list[NodeProto] = []
    constants = {_OFFSET: np.int32(128), _ZERO: np.uint8(128)}
    done: set[str] = set()
    for node in model.graph.node:
        operator = CATALOGUE.of(node)
        chosen = operator.engine and (only is None or node.output[0] in only)
        if not chosen or not _mixed(graph, operator, node):
            nodes.append(node)
            continue
        copy = type(node).FromString(node.SerializeToString())
        operand, zero_point = (operator.inputs.index(f"{_signed(operator)}{part}") for part in ("", "_zero_point"))
        copy.input.extend([""] * (zero_point + 1 - len(copy.input)))
        for place in (operand, zero_point):
            if name := copy.input[place]:
                nodes += [] if name in done else _plus_128(name)
                done.add(name)
            copy.input[place] = _as_uint8(name) if name else _ZERO
        nodes.append(copy)
    return rebuilt(model, nodes, constants if done else {})


def _signed(operator: Operator) -> str:
    """The operand that kernels take as int8 beside uint8: for ConvInteger, the weights."""
    return "a" if operator.name == "ConvInteger" else "b"


def _mixed(graph: Graph, operator: Operator, node: NodeProto) -> bool:
    """True if one operand is int8 and the other uint8, which kernels make themselves of a real one."""
    given, signed = operator.given(node), _signed(operator)
    other = "b" if signed == "a" else "a"
    return ("x" in given or _type(graph, given, other) == np.uint8) and _type(graph, given, signed) == np.int8


def _type(graph: Graph, given: Mapping[str, str], operand: str) -> np.dtype[Any] | None:
    """The type of an operand, by itself or by its zero point; None where the graph says neither."""
    names = filter(None, (given[operand], given[f"{operand}_zero_point"]))
    return next((kind for kind in map(graph.type_of, names) if kind is not None), None)


def _plus_128(name: str) -> Iterator[NodeProto]:
    """The nodes that make uint8 of the int8 tensor `name`."""
    from onnx import TensorProto, helper

    wide, moved = _as_uint8(name) + "/wide", _as_uint8(name) + "/moved"
    yield helper.make_node("Cast", [name], [wide], to=TensorProto.INT32)
    yield helper.make_node("Add", [wide, _OFFSET], [moved])
    yield helper.make_node("Cast", [moved], [_as_uint8(name)], to=TensorProto.UINT8)


def _as_uint8(name: str) -> str:
    return f"{_PREFIX}/{name}"
