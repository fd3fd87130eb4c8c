"""MatMulInteger and QLinearMatMul of ONNX, with ONNX's argument order, on numpy arrays.

Shapes are as in `numpy.matmul`: 1-D operands are promoted and the added dimension is removed, batches broadcast, and
empty dimensions give empty results or, for K = 0, empty sums. Sources: ONNX operators MatMulInteger-10 and
QLinearMatMul-10/21. Parameter shapes: `parameters`. The text leaves the rounding open: `rescale` defines it for
integers, and `float8_matmul` if any of a, b and y is float8.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .accumulate import exact_matmul, wrap_int32
from .float8 import Float8Format
from .float8_matmul import Numbers, Sums, exact_sums, integer_sums, refuse_underflow, round_to_integers, scaled
from .formats import IntFormat
from .parameters import along, as_operand, as_scale, as_zero_point, float8_zero, one_element
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


class QLinearInputs(NamedTuple):
    """Inputs of `qlinear_matmul`, in ONNX's order."""

    a: npt.ArrayLike
    a_scale: npt.ArrayLike
    a_zero_point: npt.ArrayLike
    b: npt.ArrayLike
    b_scale: npt.ArrayLike
    b_zero_point: npt.ArrayLike
    y_scale: npt.ArrayLike
    y_zero_point: npt.ArrayLike


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
    """Return the product of a and b, rescaled to the type of `y_zero_point`, which is the result's dtype.

    a, b and y can each be int8, uint8 or one of the four float8 types. Zero points have their operand's type; zero
    points of float8 must be 0. Scales are float32, float16 or bfloat16 with any value. If a, b and y are integers, a
    scale that is NaN gives the smallest output. Otherwise it gives NaN, or the smallest output if y is integers, and
    scales whose combination underflows to 0 raise ValueError.
    """
    a, b = matmul_operands(a, b, float8=True)
    row_scale = along("row", "a_scale", as_scale("a_scale", a_scale), a.shape)
    column_scale = along("column", "b_scale", as_scale("b_scale", b_scale), b.shape)
    result_scale = one_element("y_scale", as_scale("y_scale", y_scale))
    scale = combined_scale(row_scale, column_scale, result_scale)
    zero_point = float8_zero("y_zero_point", as_operand("y_zero_point", y_zero_point, float8=True))
    element = one_element("y_zero_point", zero_point)
    output = Float8Format.of(zero_point.dtype)  # of the array: an element of it no longer says its format
    offset = int(element) if output is None else 0  # of a file, an element of float8 is no number
    if output is None and not _is_float8(a) and not _is_float8(b):
        acc = _accumulate(a, b, a_zero_point, b_zero_point)
        return unpromote(requantize_float32(acc, scale, offset, IntFormat.of(zero_point.dtype)), a, b)
    refuse_underflow(scale, row_scale, column_scale, result_scale)
    sums = scaled(_exact_sums(a, a_zero_point, b, b_zero_point), scale)
    if output is None:
        y = round_to_integers(sums, offset, IntFormat.of(zero_point.dtype))
    else:
        y = output.round(sums.numbers, sums.nan, sums.infinity).view(zero_point.dtype)
    return unpromote(y, a, b)


def matmul_operands(
    a: npt.ArrayLike, b: npt.ArrayLike, *, float8: bool = False
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """`a` and `b` as arrays of 8 bits whose shapes numpy.matmul takes, or an error naming both."""
    a, b = as_operand("a", a, float8=float8), as_operand("b", b, float8=float8)
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
    return wrap_int32(exact_matmul(_centred("a", a, a_zero_point), _centred("b", b, b_zero_point)))


def _exact_sums(
    a: npt.NDArray[Any], a_zero_point: npt.ArrayLike, b: npt.NDArray[Any], b_zero_point: npt.ArrayLike
) -> Sums:
    """Exact sums; for two integer operands, the sums of `matmul_integer`."""
    numbers = []
    for name, operand, zero_point in (("a", a, a_zero_point), ("b", b, b_zero_point)):
        form = Float8Format.of(operand.dtype)
        values = _centred(name, operand, zero_point)
        numbers.append(Numbers((values,), 0) if form is None else Numbers.of_float8(values, form))
    if not _is_float8(a) and not _is_float8(b):
        return integer_sums(wrap_int32(exact_matmul(numbers[0].bands[0], numbers[1].bands[0])))
    return exact_sums(*numbers)


def _centred(name: str, operand: npt.NDArray[Any], zero_point: npt.ArrayLike | None) -> npt.NDArray[Any]:
    """`operand` as a matrix without its zero point: int32, or the codes of float8, whose zero points are checked."""
    axis: Literal["row", "column"] = "row" if name == "a" else "column"
    matrix = operand.reshape((1, -1) if axis == "row" else (-1, 1)) if operand.ndim == 1 else operand
    values = matrix if _is_float8(operand) else matrix.astype(np.int32)
    if zero_point is not None:
        parameter = f"{name}_zero_point"
        offset = along(axis, parameter, as_zero_point(parameter, zero_point, operand.dtype, name), operand.shape)
        values = values if _is_float8(operand) else values - offset
    return values


def _is_float8(operand: npt.NDArray[Any]) -> bool:
    return Float8Format.of(operand.dtype) is not None


def unpromote(result: npt.NDArray[Any], a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`result` [..., M, N] without the dimensions that a 1-D `a` or `b` was promoted by."""
    added = (-2,) * (a.ndim == 1) + (-1,) * (b.ndim == 1)
    return result.squeeze(added)
