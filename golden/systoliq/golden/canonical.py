"""Canonical layers: layers with any scales, rewritten with finite scales that are not negative, and equal results.

The hardware has constants only for such scales, and certificates assume outputs that never fall as the sum rises. With
s a column's combined scale and y = rint(clip(f32(sum) * s, ...)) + zero point, the smallest output for NaN (`rescale`):

* s < 0: the sum changes its sign instead. Weights and their zero point are complemented, ~b - ~b_zero_point =
  -(b - b_zero_point) in the same number of bits, and the bias is negated. float32 rounds both signs alike.
* s NaN: y is the smallest output, as for a sum of -1 without weights and a scale that saturates.
* s infinite: y is the largest output if the sum is positive, otherwise the smallest: 0 * infinity is NaN. A scale that
  saturates does the same if the zero point is the smallest output, and is possible if no column is finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .formats import INT32


def canonical_fields(layer: Any) -> dict[str, Any]:
    """Return the fields to change in `layer`, a `MatMulLayer`, for equal outputs with scales finite and at least +0.

    There are none if the layer is canonical, gives sums, or has float8. Raises ValueError if there is no such layer:
    for sums whose negatives leave int32, and for infinite scales among finite ones.
    """
    if layer.gives_sums or layer.has_float8:
        return {}
    scale, output, b_format = layer.scale, layer.y_format, layer.b_format
    if not noncanonical(scale).any():
        return {}
    negative, nan, infinite = scale < 0, np.isnan(scale), np.isinf(scale)
    bias = np.zeros(layer.n, np.int64) if layer.bias is None else layer.bias.astype(np.int64)
    _refuse_overflow(layer, negative, bias)
    b, b_zero_point = (
        np.where(negative, b_format.min + b_format.max - each, each)
        for each in (layer.b.astype(np.int64), layer.b_zero_point.astype(np.int64))
    )
    zero_point = layer.y_zero_point
    if infinite.any() and zero_point != output.min:
        if np.isfinite(scale).any():
            raise ValueError(
                f"a_scale * b_scale / y_scale must be finite in float32, not {float(scale[infinite][0])!r} (column "
                f"{int(np.flatnonzero(infinite)[0])}), beside columns where it is: a sum of 0 would give the least "
                f"output there, and y_zero_point = {zero_point} elsewhere; the engine and golden take such scales"
            )
        zero_point = output.min
    return {
        "b": np.where(nan, b_zero_point, b).astype(b_format.dtype),
        "b_zero_point": b_zero_point.astype(b_format.dtype),
        "bias": np.where(nan, -1, np.where(negative, -bias, bias)).astype(np.int32),
        "a_scale": 1.0,
        "b_scale": np.where(np.isfinite(scale), np.abs(scale), np.float32(2**output.bits)),
        "y_scale": 1.0,
        "y_zero_point": zero_point,
    }


def noncanonical(scale: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which combined scales the hardware has no constants for: negative, -0, infinite and NaN."""
    found: npt.NDArray[np.bool_] = ~np.isfinite(scale) | np.signbit(scale)
    return found


def _refuse_overflow(layer: Any, negative: npt.NDArray[np.bool_], bias: npt.NDArray[np.int64]) -> None:
    """A ValueError where a sum whose sign is to change may be -2^31, or wrap: int32 has no 2^31."""
    least, most = layer.accumulator_range()
    wrong = np.flatnonzero(negative & ((least <= INT32.min) | (most > INT32.max) | (bias == INT32.min)))
    if wrong.size:
        n = int(wrong[0])
        raise ValueError(
            f"a_scale * b_scale / y_scale must not be negative where sums reach -2^31 or wrap, not "
            f"{float(layer.scale[n])!r} (column {n}, whose sums are {int(least[n])} to {int(most[n])}): they have no "
            "opposite in int32; the engine and golden take such scales"
        )
