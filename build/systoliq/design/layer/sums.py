"""Texts of a layer of int32 sums: its function, the unit of its sums, whether they may wrap."""

from __future__ import annotations

from typing import Any

from systoliq.golden.formats import INT32
from systoliq.golden.layer import MatMulLayer

from ..choose import sum_bits

__all__ = ["sums_computes", "sums_notes", "sums_quantization"]

_COMPUTES = (
    "y = ((a - a_zero_point) @ (b - b_zero_point) + bias) modulo 2^32 as int32, as ONNX's MatMulInteger (which has no "
    "bias)"
)
_AT_RUN_TIME = "; a_zero_point comes with A, one for each row"


def sums_computes(layer: MatMulLayer) -> str:
    """The function of the layer, in a sentence."""
    return _COMPUTES + _AT_RUN_TIME * layer.takes_zero_points


def sums_notes(layer: MatMulLayer) -> list[str]:
    """A note if sums may wrap."""
    if sum_bits(layer) <= INT32.bits:
        return []
    low, high = layer.accumulator_range()
    return [f"sums may reach {int(low.min())} to {int(high.max())}: beyond int32 they wrap, as MatMulInteger's do"]


def sums_quantization(layer: MatMulLayer) -> dict[str, Any]:
    """Zero points, the reach of the sums, and their scale: a sum counts scale[n], where the scales are known."""
    low, high = layer.accumulator_range()
    scale = layer.sum_scale
    return {
        "a": {"scale": None if layer.a_scale is None else float(layer.a_scale), "zero_point": layer.a_zero_point},
        "b": {
            "scale": None if layer.b_scale is None else layer.b_scale.tolist(),
            "zero_point": layer.b_zero_point.tolist(),
        },
        "y": {"scale": None, "zero_point": 0},
        "bias": None if layer.bias is None else layer.bias.tolist(),
        "scale": None if scale is None else scale.tolist(),
        "meaning": f"y is the sum itself; {_meaning(layer)}",
        "rounding": "none",
        "sums": "exact" if sum_bits(layer) <= INT32.bits else "modulo 2^32",
        "accumulator_range": [[int(least), int(most)] for least, most in zip(low, high, strict=True)],
        "certificate": "none: nothing is rounded. The golden vectors, and simulation, test that the hardware is as "
        "described",
    }


def _meaning(layer: MatMulLayer) -> str:
    """The real numbers that sums represent."""
    if layer.sum_scale is not None:
        return "it stands for y * scale"
    if layer.b_scale is not None:
        return "it stands for y * a_scale * b.scale, where a_scale comes at run time"
    return "which real number it stands for is not known here"
