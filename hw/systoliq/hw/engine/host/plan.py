"""Planning: the jobs of the engine that make up a QLinearMatMul or MatMulInteger.

A job is one 2-D product with a constant table per column. The planner maps everything else that the operators allow to
such jobs:

* batches that share b become rows of one job; every other batch is a separate job;
* rows whose combined scales or biases differ cannot share a constant table: each distinct set of them becomes a job,
  unless there are fewer distinct columns; then the jobs are transposed, Y' = B' A', so that the constants belong to
  columns;
* columns whose scales are negative, and columns whose scales are infinite or NaN, are separate jobs
  (`canonical_scales`);
* a job that does not fit buffers or tables is split in N or, if that does not help, in M;
* K above 65535, the register's limit, is split: int32 sums of the parts are added, modulo 2^32. Results that are
  rescaled take two steps: the sums of all elements of K but the last, then a product with K = 1 whose bias these sums
  are.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from systoliq.golden import combined_scale, requantize_float32
from systoliq.golden.formats import IntFormat
from systoliq.golden.operators import QLinearInputs, matmul_operands
from systoliq.golden.parameters import along, as_operand, as_scale, as_zero_point, one_element

from ..config import LARGEST, EngineConfig
from .batches import Batches
from .float8_plan import plan_float8_matmul
from .job_placement import Placed, Plan
from .partition import Rescale, Scales

__all__ = ["plan_matmul_integer", "plan_qlinear_matmul"]

Array = npt.NDArray[Any]


def plan_matmul_integer(
    config: EngineConfig,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_zero_point: npt.ArrayLike | None = None,
    b_zero_point: npt.ArrayLike | None = None,
    *,
    bias: npt.ArrayLike | None = None,
) -> Plan:
    """Plan `systoliq.golden.matmul_integer` with its arguments, plus `bias`: int32 that broadcasts to the result."""
    if config.float8:
        raise TypeError(f"matmul_integer must run on an engine of integers, not on one of {config.a} x {config.b}")
    return _plan(config, _Operands(*matmul_operands(a, b), a_zero_point, b_zero_point, bias), None)


def plan_qlinear_matmul(config: EngineConfig, inputs: QLinearInputs, *, bias: npt.ArrayLike | None = None) -> Plan:
    """Plan `systoliq.golden.qlinear_matmul` of these inputs, or com.microsoft's QGemm where there is a `bias`.

    `bias` is int32 in units of a_scale * b_scale and broadcasts to the result; the sum with it wraps. A float8 engine
    takes its formats, and no bias.
    """
    if config.float8:
        if bias is not None:
            raise TypeError(f"bias must be None on an engine of float8, not {type(bias).__name__}")
        return plan_float8_matmul(config, inputs)
    a, b = matmul_operands(inputs.a, inputs.b)
    zero_point = one_element("y_zero_point", as_operand("y_zero_point", inputs.y_zero_point))
    rescale = Rescale(
        a=along("row", "a_scale", as_scale("a_scale", inputs.a_scale), a.shape),
        b=along("column", "b_scale", as_scale("b_scale", inputs.b_scale), b.shape),
        y=one_element("y_scale", as_scale("y_scale", inputs.y_scale)),
        zero_point=int(zero_point),
        output=IntFormat.of(zero_point.dtype),
    )
    return _plan(config, _Operands(a, b, inputs.a_zero_point, inputs.b_zero_point, bias), rescale)


class _Operands(NamedTuple):
    """Inputs of both operators: arrays, zero points or None for 0, and the addend of the sums or None."""

    a: Array
    b: Array
    a_zero_point: npt.ArrayLike | None
    b_zero_point: npt.ArrayLike | None
    bias: npt.ArrayLike | None


def _plan(config: EngineConfig, operands: _Operands, rescale: Rescale | None) -> Plan:
    a, b, a_zero_point, b_zero_point, bias = operands
    a_zp = np.zeros((), a.dtype) if a_zero_point is None else as_zero_point("a_zero_point", a_zero_point, a.dtype, "a")
    b_zp = np.zeros((), b.dtype) if b_zero_point is None else as_zero_point("b_zero_point", b_zero_point, b.dtype, "b")
    a_zp, b_zp = along("row", "a_zero_point", a_zp, a.shape), along("column", "b_zero_point", b_zp, b.shape)
    if a.shape[-1] > LARGEST and rescale is not None:
        return _in_two_steps(config, operands, rescale)
    batches = Batches(a, b)
    shape = batches.result
    dtype = np.dtype(np.int32) if rescale is None else np.dtype(rescale.output.dtype)
    biases = None if bias is None else _bias(bias, shape).reshape(batches.count, batches.m, batches.n)
    scales: Scales | None = None
    if rescale is not None:
        scales = batches.of_rows(rescale.a), batches.of_columns(rescale.b), rescale.y
    if 0 in batches.full:
        return Plan(placed=(), shape=shape, dtype=dtype)
    if not batches.k:
        sums = np.zeros(batches.full, np.int32) if biases is None else biases.reshape(batches.full)
        return Plan(placed=(), shape=shape, dtype=dtype, fill=_rescaled(sums, rescale).reshape(shape))
    placed: list[Placed] = []
    for part, own_scales, own_bias in batches.products(a_zp, b_zp, scales, biases):
        for smaller, scale, column_bias in part.by_constants(own_scales, own_bias):
            if scale is None or rescale is None:
                placed += smaller.sums(config, column_bias)
            else:
                placed += smaller.rescaled(config, scale, column_bias, rescale)
    return Plan(placed=tuple(placed), shape=shape, dtype=dtype)


def _in_two_steps(config: EngineConfig, operands: _Operands, rescale: Rescale) -> Plan:
    """Sums of all elements of K but the last, then the last with these as its bias."""
    a, b = operands.a, operands.b
    b_first, b_last = (b[:-1], b[-1:]) if b.ndim == 1 else (b[..., :-1, :], b[..., -1:, :])
    last = operands._replace(a=a[..., -1:], b=b_last)
    sums = _plan(config, operands._replace(a=a[..., :-1], b=b_first), None)
    return dataclasses.replace(sums, then=lambda total: _plan(config, last._replace(bias=total), rescale))


def _rescaled(sums: Array, rescale: Rescale | None) -> Array:
    if rescale is None:
        return sums
    scale = combined_scale(rescale.a, rescale.b, rescale.y)
    return requantize_float32(sums, scale, rescale.zero_point, rescale.output)


def _bias(value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    """`value` as an array of `shape`, or an error naming it."""
    bias = np.asarray(value)
    if bias.dtype != np.int32:
        raise TypeError(f"bias must be int32, not {bias.dtype.name}")
    try:
        return np.broadcast_to(bias, shape)
    except ValueError:
        raise ValueError(
            f"bias must broadcast to the result's shape {list(shape)}, which shape {list(bias.shape)} does not"
        ) from None
