"""Matrix products of a lowered graph as operations of the engine; real numbers before and behind are the host's."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden import dynamic_quantize_linear

from ..onnx.node import attribute
from .operations import Array, Asked, Inputs, Operation, Rescaling

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["dynamic_quantize_matmul", "matmul_integer", "matmul_integer_to_float", "qgemm", "qgemm_reason",
           "qlinear_matmul"]  # fmt: skip


def qlinear_matmul(node: NodeProto, inputs: Inputs) -> Asked:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point."""
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point = inputs
    by = Rescaling(a_scale=a_scale, b_scale=b_scale, y_scale=y_scale, y_zero_point=y_zero_point)
    return Asked.of(Operation(a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point, rescaling=by))


def qgemm(node: NodeProto, inputs: Inputs) -> Asked:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias or None, y_scale, y_zero_point."""
    *operands, bias, y_scale, y_zero_point = inputs
    a, a_scale, a_zero_point, b, b_scale, b_zero_point = operands
    by = Rescaling(a_scale=a_scale, b_scale=b_scale, y_scale=y_scale, y_zero_point=y_zero_point)
    turned = "a" * bool(attribute(node, "transA", 0)) + "b" * bool(attribute(node, "transB", 0))
    return Asked.of(
        Operation(
            a=a.T if "a" in turned else a,
            b=b.T if "b" in turned else b,
            a_zero_point=a_zero_point,
            b_zero_point=b_zero_point,
            bias=bias,
            rescaling=by,
        ),
        transposed=turned,
    )


def qgemm_reason(node: NodeProto) -> str | None:
    """Why the engine cannot take it; None where it can."""
    if attribute(node, "alpha", 1.0) != 1:
        return "alpha must be 1"
    quantized = len(node.input) > 8 and node.input[7] and node.input[8]
    return None if quantized else "its result must be quantized, and is float"


def matmul_integer(node: NodeProto, inputs: Inputs) -> Asked:
    """Inputs: a, b, a_zero_point or None, b_zero_point or None."""
    a, b, a_zero_point, b_zero_point = inputs
    return Asked.of(Operation(a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point))


def matmul_integer_to_float(node: NodeProto, inputs: Inputs) -> Asked:
    """Inputs: a, b, a_scale, b_scale, a_zero_point or None, b_zero_point or None, bias or None."""
    a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias = inputs
    operation = Operation(a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point)
    return Asked(
        operations=(operation,),
        finish=lambda results: _real(results[0], a_scale, b_scale, bias),
        before={"a": "input", "b": "input"},
        after={"output": f"float32(result) * (a_scale * b_scale){'' if bias is None else ' + bias'}"},
    )


def dynamic_quantize_matmul(node: NodeProto, inputs: Inputs) -> Asked:
    """Inputs: real x, b, b_scale, b_zero_point or None, bias or None."""
    x, b, b_scale, b_zero_point, bias = inputs
    found = dynamic_quantize_linear(x)
    a_scale, a_zero_point = np.asarray(found.scale), np.asarray(found.zero_point)
    asked = matmul_integer_to_float(node, (found.a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias))
    return dataclasses.replace(asked, before={"a": "DynamicQuantizeLinear of the input", "b": "input"})


def _real(sums: Array, a_scale: Array, b_scale: Array, bias: Array | None) -> Array:
    """f32(f32(sums) * f32(a_scale * b_scale)), then + bias."""
    with np.errstate(over="ignore", invalid="ignore"):  # as onnxruntime: infinity, NaN
        y: Array = sums.astype(np.float32) * (a_scale * b_scale)
        return y if bias is None else y + bias
