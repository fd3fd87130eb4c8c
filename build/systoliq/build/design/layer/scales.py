"""Words of a layer about scales that are not positive and finite: what its sidecar and its notes say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.rising import turned

__all__ = ["scale_facts", "scale_notes"]


def scale_notes(layer: MatMulLayer) -> list[str]:
    """That a combined scale is 0, negative, infinite or NaN, where one is: more often a mistake than meant."""
    odd = np.flatnonzero(~(np.isfinite(layer.scale) & (layer.scale > 0)))
    if not odd.size:
        return []
    note = (
        f"a_scale * b_scale / y_scale is not positive and finite in {odd.size} of {layer.n} columns, but "
        f"{float(layer.scale[odd[0]]):g} in column {odd[0]}: results are the float32 formula's all the same"
    )
    return [note]


def scale_facts(layer: MatMulLayer) -> dict[str, Any]:
    """Scales, zero points and bias, ready for JSON; `turned` are the columns that `MatMulLayer.rising` has changed."""
    return {
        "a": {"scale": _number(layer.a_scale), "zero_point": layer.a_zero_point},
        "b": {"scale": [_number(scale) for scale in layer.b_scale], "zero_point": layer.b_zero_point.tolist()},
        "y": {"scale": _number(layer.y_scale), "zero_point": layer.y_zero_point},
        "bias": None if layer.bias is None else layer.bias.tolist(),
        "scale": [_number(scale) for scale in layer.scale],
        "turned": np.flatnonzero(turned(layer.scale)).tolist(),
    }


def _number(scale: Any) -> float | str:
    """A scale for JSON, which has no name for infinities and NaN: "inf", "-inf", "nan"."""
    return float(scale) if np.isfinite(scale) else str(float(scale))
