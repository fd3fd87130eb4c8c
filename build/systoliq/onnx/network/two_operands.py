"""Matrix products of two computed tensors: MatMul between DequantizeLinear and QuantizeLinear, QLinearMatMul."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from systoliq.golden.network import MatrixProduct, Move, Node, Reshape, Tensor

from ..node import NotTakenError
from .quantizers import named, operand, tensor_of
from .reader import Reader
from .values import Make, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["computed_matmul", "computed_qlinear_matmul"]


def computed_matmul(reader: Reader, node: NodeProto) -> Value:
    """Both inputs stand behind a DequantizeLinear."""
    a, b = (reader.tensor(name) for name in node.input)
    shape, make = _product(node, a, b)
    return Pending(node=node, shape=shape, make=make)


def computed_qlinear_matmul(reader: Reader, node: NodeProto) -> Value:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point."""
    a, b = operand(reader, node, 0, "a"), operand(reader, node, 3, "b")
    shape, make = _product(node, a, b)
    scale, zero_point = (
        reader.graph.constant(node.input[place], role) for place, role in ((6, "y_scale"), (7, "y_zero_point"))
    )
    y = tensor_of(node.output[0], shape, scale, zero_point)
    reader.emit(node, make(y))
    return y


def _product(node: NodeProto, a: Tensor, b: Tensor) -> tuple[tuple[int, ...], Make]:
    """The output's shape, and the operator between reshapes that make rows of all blocks one dimension."""
    if a.name == b.name:
        raise NotTakenError(f"its inputs must be two tensors, not {a.name!r} twice")
    if len(a.shape) < 3 or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise NotTakenError(
            f"its inputs must be matrices [..., M, K] and [..., K, N] with the same dimensions before them, the batch "
            f"first, not {list(a.shape)} and {list(b.shape)}"
        )
    shape = (*a.shape[:-1], b.shape[-1])
    blocks, name = math.prod(a.shape[1:-2]), named(node)

    def make(y: Tensor) -> tuple[Node, ...]:
        before, after = list[Node](), list[Node]()

        def rows(x: Tensor, role: str) -> Tensor:
            if len(x.shape) == 3:
                return x
            flat = x.replace(name=f"{y.name}: rows of {role}", shape=(x.shape[0], blocks * x.shape[-2], x.shape[-1]))
            pair = (flat, x) if role == "output" else (x, flat)
            move = Move(name=f"{name}: {role}", inputs=pair[:1], output=pair[1], movement=Reshape(pair[1].shape[1:]))
            (after if role == "output" else before).append(move)
            return flat

        inputs = rows(a, "a"), rows(b, "b")
        product = MatrixProduct(name=name, inputs=inputs, output=rows(y, "output"), blocks=blocks)
        return (*before, product, *after)

    return shape, make
