"""Canonical scales: columns with negative, infinite or NaN scales, rewritten with other scales and equal results.

With s a column's scale, y = rint(clip(f32(sum) * s, ...)) + zero point, and the smallest output if that is NaN:

* s < 0: sum * s = -sum * -s; float32 and rint treat both signs alike.
* s NaN: the smallest output for every sum, as for the sum -1 with a scale at which everything but 0 saturates.
* s infinite: the largest output for sums above 0, the smallest for all others, including 0. A scale at which everything
  but 0 saturates does the same if the zero point is the smallest output.
"""

from __future__ import annotations

import dataclasses
import math

from .float32 import Format
from .package import Layer, RefusedError

__all__ = ["canonical_layer", "is_noncanonical"]


def is_noncanonical(scale: float) -> bool:
    """True for a combined scale without constants in hardware; -0 has none either."""
    return not math.isfinite(scale) or math.copysign(1.0, scale) < 0


def canonical_layer(layer: Layer, output: Format) -> Layer:
    """Return a layer with the results of `layer` in the format `output`, and scales that are finite and at least 0."""
    if not any(map(is_noncanonical, layer.scales)):
        return layer
    infinite = any(map(math.isinf, layer.scales))
    zero_point = output[0] if infinite else layer.y_zero_point
    if zero_point != layer.y_zero_point and any(map(math.isfinite, layer.scales)):
        raise RefusedError("an infinite scale beside finite ones, where the zero point of Y is not the least output")
    saturating = float((output[1] - output[0]) + 1)
    signs = [-1 if scale < 0 else int(not math.isnan(scale)) for scale in layer.scales]
    return dataclasses.replace(
        layer,
        b=[[sign * value for sign, value in zip(signs, row, strict=True)] for row in layer.b],
        b_zero_point=[sign * value for sign, value in zip(signs, layer.b_zero_point, strict=True)],
        bias=[sign * bias if sign else -1 for sign, bias in zip(signs, layer.bias, strict=True)],
        scales=[abs(scale) if math.isfinite(scale) else saturating for scale in layer.scales],
        y_zero_point=zero_point,
    )
