"""Planning of float8: the jobs of a float8 engine that make up a QLinearMatMul.

As for integers (`plan`), with three differences: codes have no zero points, jobs are transposed only if a and b have
the same format, and K is limited to one job's because rounded results cannot be added.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import combined_scale
from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_matmul import refuse_underflow
from systoliq.golden.operators import QLinearInputs, matmul_operands, qlinear_matmul
from systoliq.golden.parameters import along, as_operand, as_scale, as_zero_point, float8_zero, one_element, type_name

from ..config import LARGEST, EngineConfig
from .batches import Batches
from .float8_canonical import float8_canonical
from .job import Float8Job
from .job_placement import Placed, Plan
from .partition import Part, Scales

__all__ = ["plan_float8_matmul"]

Array = npt.NDArray[Any]


def plan_float8_matmul(config: EngineConfig, inputs: QLinearInputs) -> Plan:
    """Plan `systoliq.golden.qlinear_matmul` of these inputs, of the formats of `config`."""
    a, b = matmul_operands(inputs.a, inputs.b, float8=True)
    zero_point = float8_zero("y_zero_point", as_operand("y_zero_point", inputs.y_zero_point, float8=True))
    one_element("y_zero_point", zero_point)
    _check_formats(config, a=a, b=b, y_zero_point=zero_point)
    along("row", "a_zero_point", as_zero_point("a_zero_point", inputs.a_zero_point, a.dtype, "a"), a.shape)
    along("column", "b_zero_point", as_zero_point("b_zero_point", inputs.b_zero_point, b.dtype, "b"), b.shape)
    row_scale = along("row", "a_scale", as_scale("a_scale", inputs.a_scale), a.shape)
    column_scale = along("column", "b_scale", as_scale("b_scale", inputs.b_scale), b.shape)
    result_scale = one_element("y_scale", as_scale("y_scale", inputs.y_scale))
    refuse_underflow(combined_scale(row_scale, column_scale, result_scale), row_scale, column_scale, result_scale)

    batches = Batches(a.view(np.uint8), b.view(np.uint8))
    shape, dtype = batches.result, zero_point.dtype
    if 0 in batches.full:
        return Plan(placed=(), shape=shape, dtype=dtype)
    if batches.k > LARGEST:
        raise ValueError(
            f"K must be at most {LARGEST} on an engine of float8, whose results are rounded and cannot be added up, "
            f"not {batches.k}"
        )
    if not batches.k:
        return Plan(placed=(), shape=shape, dtype=dtype, fill=qlinear_matmul(*inputs).view(np.uint8))
    scales: Scales = batches.of_rows(row_scale), batches.of_columns(column_scale), result_scale
    placed: list[Placed] = []
    none = np.zeros((), np.uint8)
    for part, own_scales, _ in batches.products(none, none, scales, None):
        for smaller, scale, _ in part.by_constants(own_scales, None, may_turn=config.a == config.b):
            placed += [] if scale is None else _jobs(config, smaller, scale)
    return Plan(placed=tuple(placed), shape=shape, dtype=dtype)


def _jobs(config: EngineConfig, part: Part, scale: Array) -> Iterator[Placed]:
    """The part as jobs that fit buffers and table, with this float32 `scale` [c] of its columns."""
    _, b_format, output = config.float8_formats
    rising = float8_canonical(part.b, b_format, scale, output)
    for piece, own in dataclasses.replace(part, b=rising.b).pieces(config):
        zeros = None if rising.zeros is None else rising.zeros[own]
        yield piece.placed(Float8Job(a=piece.a, b=piece.b, scale=rising.scale[own]), zeros=zeros)


def _check_formats(config: EngineConfig, **operands: Array) -> None:
    """A TypeError that names the operand which has not the engine's format."""
    for name, operand in operands.items():
        form = getattr(config, name[0])
        if Float8Format.of(operand.dtype) != form:
            raise TypeError(f"{name} must be {form} on this engine, not {type_name(operand.dtype)}")
