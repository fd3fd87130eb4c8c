"""Matrix products of a lowered graph as operations of the engine; real numbers before and behind are the host's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden import dynamic_quantize_linear

from ..onnx.node import attribute
from .operations import Array, Asked, Inputs, Operation, Rescaling

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["matrix_product", "product_reason"]


def matrix_product(node: NodeProto, inputs: Inputs) -> Asked:
    """A product that is rescaled, with a bias or without; or int32 sums, of which the host may make real numbers."""
    if "x" in inputs:
        found = dynamic_quantize_linear(inputs["x"])
        a = {"a": found.a, "a_scale": np.asarray(found.scale), "a_zero_point": np.asarray(found.zero_point)}
        asked = matrix_product(node, {role: value for role, value in inputs.items() if role != "x"} | a)
        return dataclasses.replace(asked, before={"a": "DynamicQuantizeLinear of the input", "b": "input"})
    by = Rescaling.of(inputs)
    transposed = [operand for operand in "ab" if attribute(node, f"trans{operand.upper()}", 0)]
    operation = Operation(
        **{operand: inputs[operand].T if operand in transposed else inputs[operand] for operand in "ab"},
        a_zero_point=inputs["a_zero_point"],
        b_zero_point=inputs["b_zero_point"],
        bias=None if by is None else inputs.get("bias"),
        rescaling=by,
    )
    asked = Asked.of(operation, transposed="".join(transposed))
    return asked if by is not None or "a_scale" not in inputs else _in_real(asked, inputs)


def product_reason(node: NodeProto, given: Mapping[str, str]) -> str | None:
    """Why the engine cannot take it, whose inputs are the tensors `given`; None where it can."""
    if attribute(node, "alpha", 1.0) != 1:
        return "alpha must be 1"
    rescaled = all(given[role] for role in ("y_scale", "y_zero_point") if role in given)
    return None if rescaled else "its result must be quantized, and is float"


def _in_real(asked: Asked, inputs: Inputs) -> Asked:
    """`asked` with real numbers for its int32 sums."""
    a_scale, b_scale, bias = inputs["a_scale"], inputs["b_scale"], inputs["bias"]
    return dataclasses.replace(
        asked,
        finish=lambda results: _real(results[0], a_scale, b_scale, bias),
        after={"output": f"float32(result) * (a_scale * b_scale){'' if bias is None else ' + bias'}"},
    )


def _real(sums: Array, a_scale: Array, b_scale: Array, bias: Array | None) -> Array:
    """f32(f32(sums) * f32(a_scale * b_scale)), then + bias."""
    with np.errstate(over="ignore", invalid="ignore"):  # as onnxruntime: infinity, NaN
        y: Array = sums.astype(np.float32) * (a_scale * b_scale)
        return y if bias is None else y + bias
