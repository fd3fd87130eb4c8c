"""MatMulInteger and QLinearMatMul of ONNX, with ONNX's argument order, on numpy arrays.

Shapes are those of `numpy.matmul`: 1-D operands are promoted and the added dimension removed, batches broadcast, empty
dimensions give empty results or, for K = 0, sums of nothing. Sources: ONNX operators MatMulInteger-10 and
QLinearMatMul-10/21. Parameter shapes: `parameters`. The rounding, which the text leaves open, is that of `rescale`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .accumulate import exact_matmul, wrap_int32
from .formats import IntFormat
from .parameters import along, as_operand, as_scale, as_zero_point, one_element
from .rescale import combined_scale, requantize_float32


def matmul_integer(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_zero_point: npt.ArrayLike | None = None,
    b_zero_point: npt.ArrayLike | None = None,
) -> npt.NDArray[np.int32]:
    """(a - a_zero_point) @ (b - b_zero_point) in int32, which wraps.

    a: [..., M, K] or [K], int8 or uint8. b: [..., K, N] or [K], int8 or uint8, independent of a. Zero points have their
    operand's type and default to 0. Returns [..., M, N], without M or N where that operand is 1-D.
    """
    a, b = matmul_operands(a, b)
    return unpromote(_accumulate(a, b, a_zero_point, b_zero_point), a, b)


def qlinear_matmul(
    a: npt.ArrayLike,
    a_scale: npt.ArrayLike,
    a_zero_point: npt.ArrayLike,
    b: npt.ArrayLike,
    b_scale: npt.ArrayLike,
    b_zero_point: npt.ArrayLike,
    y_scale: npt.ArrayLike,
    y_zero_point: npt.ArrayLike,
) -> npt.NDArray[Any]:
    """The product of `matmul_integer`, rescaled by the float32 formula to the type of `y_zero_point` (int8 or uint8).

    Scales are float32, float16 or bfloat16 and need not be sensible: a scale that is NaN gives the least output.
    """
    a, b = matmul_operands(a, b)
    scale = combined_scale(
        along("row", "a_scale", as_scale("a_scale", a_scale), a.shape),
        along("column", "b_scale", as_scale("b_scale", b_scale), b.shape),
        one_element("y_scale", as_scale("y_scale", y_scale)),
    )
    zero_point = one_element("y_zero_point", as_operand("y_zero_point", y_zero_point))
    acc = _accumulate(a, b, a_zero_point, b_zero_point)
    y = requantize_float32(acc, scale, int(zero_point), IntFormat.of(zero_point.dtype))
    return unpromote(y, a, b)


def matmul_operands(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """`a` and `b` as arrays of 8 bits whose shapes numpy.matmul takes, or an error naming both."""
    a, b = as_operand("a", a), as_operand("b", b)
    for name, operand in (("a", a), ("b", b)):
        if operand.ndim == 0:
            raise ValueError(f"{name} must have at least one dimension, not shape []")
    shapes = f"a of shape {list(a.shape)} and b of shape {list(b.shape)}"
    a_k, b_k = a.shape[-1], b.shape[-2 if b.ndim > 1 else -1]
    if a_k != b_k:
        raise ValueError(f"{shapes} must have the same K, not {a_k} and {b_k}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(f"{shapes} must have batch dimensions that broadcast") from None
    return a, b


def _accumulate(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    a_zero_point: npt.ArrayLike | None,
    b_zero_point: npt.ArrayLike | None,
) -> npt.NDArray[np.int32]:
    rows, columns = a.astype(np.int32), b.astype(np.int32)
    rows = rows[np.newaxis, :] if a.ndim == 1 else rows
    columns = columns[:, np.newaxis] if b.ndim == 1 else columns
    if a_zero_point is not None:
        rows -= along("row", "a_zero_point", as_zero_point("a_zero_point", a_zero_point, a.dtype, "a"), a.shape)
    if b_zero_point is not None:
        columns -= along("column", "b_zero_point", as_zero_point("b_zero_point", b_zero_point, b.dtype, "b"), b.shape)
    return wrap_int32(exact_matmul(rows, columns))


def unpromote(result: npt.NDArray[Any], a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`result` [..., M, N] without the dimensions that a 1-D `a` or `b` was promoted by."""
    added = (-2,) * (a.ndim == 1) + (-1,) * (b.ndim == 1)
    return result.squeeze(added)
