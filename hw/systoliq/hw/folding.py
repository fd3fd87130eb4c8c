"""Folding: a layer's weights and zero points as operands and constants of the array.

With weights ``w = b - pivot`` the sum that a layer asks for is

    sum (a - a_zp) (b - b_zp) + bias  =  sum a w  -  residual * sum a  +  folded_bias

where ``residual = b_zp - pivot`` and ``folded_bias = bias - a_zp * sum (b - b_zp)`` are constants of the column. The
pivot is any number for which w fits its format. If possible, the pivot is the zero point itself and the residual 0. So
zero points usually cost nothing, and never a wider multiplier. A zero point of A that comes at run time is subtracted
before (`centring`), and counts as 0 here.

If A or B is float8, nothing is folded: codes and weights less their zero point stay unchanged, since the other operand
may be NaN or infinite.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from systoliq.golden.float8 import Float8Format
from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import Format

from .centring import array_format

__all__ = ["Folding", "fold"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Folding:
    """The weights that the array multiplies, and the constants that are added afterwards, per column of B.

    ``weights`` is [K, N] in ``b_format``; ``bias`` and ``residual`` are [N] (int64). ``row_sums`` are the least and the
    most that a row of A may sum to; 0 and 0 if no column has a residual.
    """

    b_format: Format
    weights: np.ndarray
    bias: np.ndarray
    residual: np.ndarray
    row_sums: tuple[int, int] = (0, 0)

    @property
    def needs_row_sums(self) -> bool:
        """True if a column has a residual, which is multiplied by the row sums of A."""
        return bool(self.residual.any())

    def row_sum_factors(self, sum_bits: int) -> tuple[int, int] | None:
        """Return the bits of both factors of the products of residuals and row sums: signed, and unsigned above the
        least row sum, as far as sums of `sum_bits` need them; None without row sums.
        """
        if not self.needs_row_sums:
            return None
        least, most = self.row_sums
        return signed_bits(*self.residual.tolist()), min((most - least).bit_length(), sum_bits)


def fold(layer: MatMulLayer, b_bits: int | None = None) -> Folding:
    """Fold ``layer`` for multipliers of ``b_bits`` (default: the layer's own width).

    Signed weights are preferred, unsigned weights are used if only they avoid row sums.

    Raises ValueError if the weights of a column span more than ``2**b_bits`` values. If A or B is float8, ``b_bits`` is
    ignored and weights have the bits that they need.
    """
    if not layer.multiplies_integers:
        return _unfolded(layer)
    bits = layer.b_format.bits if b_bits is None else b_bits
    foldings = [_fold_to(layer, IntFormat(bits, signed)) for signed in (True, False)]
    return next((folding for folding in foldings if not folding.needs_row_sums), foldings[0])


def _unfolded(layer: MatMulLayer) -> Folding:
    nothing = np.zeros(layer.n, np.int64)
    if isinstance(layer.b_format, Float8Format):
        return Folding(b_format=layer.b_format, weights=layer.b_format.codes(layer.b), bias=nothing, residual=nothing)
    weights = layer.centered_b
    bits = max(signed_bits(int(weights.min()), int(weights.max())), 2)
    return Folding(b_format=IntFormat(bits, signed=True), weights=weights, bias=nothing, residual=nothing)


def _fold_to(layer: MatMulLayer, b_format: IntFormat) -> Folding:
    b = np.asarray(layer.b, dtype=np.int64)
    zero_point = np.broadcast_to(np.asarray(layer.b_zero_point, dtype=np.int64), (layer.n,))
    lowest, highest = b.max(axis=0) - b_format.max, b.min(axis=0) - b_format.min
    if (lowest > highest).any():
        column = int(np.argmax(lowest > highest))
        low, high = int(b[:, column].min()), int(b[:, column].max())
        needed = int((b.max(axis=0) - b.min(axis=0)).max()).bit_length()
        raise ValueError(
            f"b_bits must be at least {needed} for this layer, not {b_format.bits}: weights of column {column} span "
            f"{low} to {high} (systoliq explore re-quantizes a layer to fewer bits)"
        )
    pivot = np.clip(zero_point, lowest, highest)
    a_zero_point = 0 if layer.takes_zero_points else int(np.asarray(layer.a_zero_point))
    bias = np.zeros(layer.n, np.int64) if layer.bias is None else np.asarray(layer.bias, dtype=np.int64)
    residual = zero_point - pivot
    a = array_format(layer)
    return Folding(
        b_format=b_format,
        weights=b - pivot,
        bias=bias - a_zero_point * (b - zero_point).sum(axis=0),
        residual=residual,
        row_sums=(layer.k * a.min, layer.k * a.max) if residual.any() and isinstance(a, IntFormat) else (0, 0),
    )
