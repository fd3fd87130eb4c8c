"""DynamicQuantizeLinear of ONNX: scale and zero point from the smallest and the largest of the numbers.

Hosts compute this before a product whose zero point arrives at run time. ONNX's text defines the formula. Where it
leaves room, this follows onnxruntime's kernel: float32 throughout, true divisions, halves to even, the zero point added
to the rounded quotient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .formats import UINT8

__all__ = ["Quantized", "dynamic_quantize_linear"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Quantized:
    """Integers `a` with the shape of the real numbers that they represent, approximately (a - zero_point) * scale.

    `zero_point` is None if it is part of the layer.
    """

    a: npt.NDArray[Any]
    scale: np.float32
    zero_point: np.uint8 | None


def dynamic_quantize_linear(x: npt.ArrayLike) -> Quantized:
    """Quantize `x`, float32 of any shape with at least one element, to uint8 with the scale of its range.

    Raises TypeError for other types, ValueError if a number is not finite or the range is too large or too small for a
    scale in float32.
    """
    real: npt.NDArray[Any] = np.asarray(x)
    if real.dtype != np.float32:
        raise TypeError(f"x must be float32, not {real.dtype.name}")
    if not real.size:
        raise ValueError(f"x must have at least one element, not the shape {list(real.shape)}")
    if not np.isfinite(real).all():
        at = np.argwhere(~np.isfinite(real))[0]
        raise ValueError(f"x must hold finite numbers, not {real[tuple(at)]} (at {at.tolist()})")
    least, greatest = np.minimum(real.min(), np.float32(0)), np.maximum(real.max(), np.float32(0))
    with np.errstate(over="ignore"):
        scale = (greatest - least) / np.float32(UINT8.max) if greatest > least else np.float32(1)
    if not 0 < scale < np.inf:
        raise ValueError(f"x must have a range with a scale in float32, not {least!s} to {greatest!s}")
    zero_point = np.clip(np.rint(-(least / scale)), 0, UINT8.max)
    a = UINT8.saturate(np.rint(real / scale) + zero_point)
    return Quantized(a=a, scale=np.float32(scale), zero_point=np.uint8(zero_point))
