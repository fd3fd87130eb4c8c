"""Sums that onnxruntime computes in float32: the scales for which few of them are half-way between two results."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.layer import MatMulLayer

from ..node import NotTakenError, label

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["refuse_ties"]

_ROUNDINGS = 2.0**-22  # by which float32 sums usually differ from the true ones, of these
_MOST_TIES = 500  # of how many sums one may be half-way between two results
_EXACT = 1 << 24  # float32 has all whole numbers up to here


def refuse_ties(node: NodeProto, layer: MatMulLayer) -> None:
    """Raise NotTakenError if more than one in `_MOST_TIES` sums is a tie that float32 may round to either side."""
    most = layer.k * 2 ** (layer.a_format.bits + layer.b_format.bits)
    if _is_power(layer.a_scale) and all(map(_is_power, layer.b_scale.ravel())) and most <= _EXACT:
        return  # each sum is exact in float32
    for scale in np.unique(layer.b_scale):
        ratio = float(layer.a_scale) * float(scale) / float(layer.y_scale)
        near = Fraction(ratio).limit_denominator(2 * _MOST_TIES)
        if near.denominator % 2 == 0 and near.denominator <= _MOST_TIES and abs(near - ratio) <= _ROUNDINGS * ratio:
            raise NotTakenError(
                f"the scales around {label(node)} must leave few sums half-way between two results, where "
                f"onnxruntime's float32 sum decides, not x_scale * w_scale / y_scale = {near}, for which one in "
                f"{near.denominator} is; scales that are powers of two are exact, as long as all products fit 24 bits"
            )


def _is_power(scale: Any) -> bool:
    return bool(np.frexp(np.float32(scale))[0] == 0.5)
