"""Texts for the sidecar and notes of a layer about scales that are not positive and finite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.canonical import noncanonical
from systoliq.golden.layer import MatMulLayer

from ...odd_scales import ODD_RESULTS, odd_scales

__all__ = ["scale_facts", "scale_notes"]


def scale_notes(layer: MatMulLayer) -> list[str]:
    """A note for each scale that is 0, negative, infinite or NaN, with its columns; and for the scale that they make
    together where that alone is one, as it may overflow.
    """
    given = {"a_scale": layer.a_scale, "b_scale": layer.b_scale, "y_scale": layer.y_scale}
    odd = _odd(given)
    if not odd and not layer.gives_sums:
        odd = _odd({"a_scale * b_scale / y_scale": layer.scale})
    return [f"{text}: {ODD_RESULTS}" for text in odd]


def _odd(scales: Mapping[str, npt.ArrayLike | None]) -> list[str]:
    texts = {name: odd_scales(scale, "column") for name, scale in scales.items() if scale is not None}
    return [f"{name} {text}" for name, text in texts.items() if text is not None]


def scale_facts(layer: MatMulLayer) -> dict[str, Any]:
    """Return scales, zero points and bias for JSON; `noncanonical`: columns that `MatMulLayer.canonical` changes."""
    return {
        "a": {"scale": _number(layer.a_scale), "zero_point": layer.a_zero_point},
        "b": {"scale": [_number(scale) for scale in layer.b_scale], "zero_point": layer.b_zero_point.tolist()},
        "y": {"scale": _number(layer.y_scale), "zero_point": layer.y_zero_point},
        "bias": None if layer.bias is None else layer.bias.tolist(),
        "scale": [_number(scale) for scale in layer.scale],
        "noncanonical": np.flatnonzero(noncanonical(layer.scale)).tolist(),
    }


def _number(scale: Any) -> float | str:
    """A scale for JSON, which has no name for infinities and NaN: "inf", "-inf", "nan"."""
    return float(scale) if np.isfinite(scale) else str(float(scale))
