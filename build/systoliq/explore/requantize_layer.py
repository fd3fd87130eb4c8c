"""Layers at other widths: a float classifier quantized to given widths, and a layer re-quantized to narrower ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import INT32, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format

from ..errors import InputError

__all__ = ["narrowed", "quantize_inputs", "quantize_weights", "quantized"]

_CLIPS = np.linspace(0.3, 1.0, 36)  # shares of the greatest weight that are tried as the greatest level


def quantize_weights(
    weights: npt.NDArray[np.float64], fmt: IntFormat, scales: Sequence[npt.NDArray[np.float32]] = ()
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Integers in `fmt` and their float32 scales [N], symmetric, for `weights` [K, N].

    Per column, the scale with the least squared error among `scales` [N] each, the first of equally good ones; by
    default among 36 between 1.0 and 0.3 of that which clips nothing: narrow formats do better when the largest weights
    are clipped.
    """
    most = (1 << (fmt.bits - 1)) - 1
    if not scales:
        greatest = np.abs(weights).max(axis=0)
        greatest = np.where(greatest > 0, greatest, 1.0)
        scales = [(clip * greatest / most).astype(np.float32) for clip in _CLIPS[::-1]]
    best_error = np.full(weights.shape[1], np.inf)
    best_scale = np.zeros(weights.shape[1], np.float32)
    best = np.zeros(weights.shape, np.int64)
    for scale in scales:
        integers = np.clip(np.rint(weights / scale), -most, most)
        error = np.square(integers * scale - weights).sum(axis=0)
        better = error < best_error
        best_error, best_scale = np.where(better, error, best_error), np.where(better, scale, best_scale)
        best = np.where(better, integers, best).astype(np.int64)
    zero_point = 0 if fmt.signed else 1 << (fmt.bits - 1)
    return (best + zero_point).astype(fmt.dtype), best_scale


def quantize_inputs(x: npt.NDArray[Any], layer: MatMulLayer) -> npt.NDArray[Any]:
    """Real inputs [M, K] in the layer's format of A."""
    a: npt.NDArray[Any] = np.rint(x / np.float64(layer.a_scale)) + layer.a_zero_point
    return integer_format("a_format", layer.a_format).saturate(a)


def quantized(
    layer: MatMulLayer,
    weights: npt.NDArray[np.float64],
    bias: npt.NDArray[np.float64] | None,
    a_range: tuple[float, float],
    a_format: IntFormat,
    b_format: IntFormat,
) -> MatMulLayer:
    """`layer` with A over the real numbers `a_range` in `a_format`, and real `weights`, `bias` in `b_format` and int32.

    Y stays as it is. Zero is always a level of A.
    """
    least, most = min(a_range[0], 0.0), max(a_range[1], 0.0)
    a_scale = np.float32((most - least) / (a_format.max - a_format.min))
    a_zero_point = int(np.clip(np.rint(a_format.min - least / a_scale), a_format.min, a_format.max))
    b, b_scale = quantize_weights(weights, b_format)
    sums = None
    if bias is not None:
        sums = np.clip(np.rint(bias / (a_scale * b_scale.astype(np.float64))), INT32.min, INT32.max).astype(np.int32)
    return layer.replace(
        name=f"{layer.name}_a{a_format.bits}b{b_format.bits}",
        b=b,
        a_scale=a_scale,
        a_zero_point=a_format.dtype.type(a_zero_point),
        b_scale=b_scale,
        b_zero_point=b_format.dtype.type(0 if b_format.signed else 1 << (b_format.bits - 1)),
        bias=sums,
        a_format=a_format,
        b_format=b_format,
    )


def narrowed(layer: MatMulLayer, a_bits: int, b_bits: int) -> MatMulLayer:
    """`layer` re-quantized to narrower operands: the same real numbers, as well as the widths allow.

    An operand that keeps its width keeps its values: at its own widths a layer is given back as it is. A narrower A
    covers the same range of real numbers with fewer levels; narrower weights are symmetric, with a scale per column.
    """
    for name, bits, own in (("a_bits", a_bits, layer.a_format.bits), ("b_bits", b_bits, layer.b_format.bits)):
        if bits > own:
            raise InputError(f"{name} must be at most {own}, the layer's own, not {bits}")
    if (a_bits, b_bits) == (layer.a_format.bits, layer.b_format.bits):
        return layer
    a_scale, zero = float(layer.a_scale), layer.a_zero_point
    a_range = (a_scale * (layer.a_format.min - zero), a_scale * (layer.a_format.max - zero))
    weights = layer.centered_b * layer.b_scale.astype(np.float64)
    bias = None if layer.bias is None else layer.bias * a_scale * layer.b_scale.astype(np.float64)
    a_format, b_format = IntFormat(a_bits, layer.a_format.signed), IntFormat(b_bits, layer.b_format.signed)
    narrow = quantized(layer, weights, bias, a_range, a_format, b_format)
    if b_bits == layer.b_format.bits:
        kept = {"b": layer.b, "b_scale": layer.b_scale, "b_zero_point": layer.b_zero_point}
        if bias is not None:
            sums = np.rint(bias / (float(narrow.a_scale) * layer.b_scale.astype(np.float64)))
            kept["bias"] = np.clip(sums, INT32.min, INT32.max).astype(np.int32)
        return narrow.replace(**kept)
    if a_bits == layer.a_format.bits:
        return narrow.replace(a_scale=layer.a_scale, a_zero_point=layer.a_format.dtype.type(zero))
    return narrow
