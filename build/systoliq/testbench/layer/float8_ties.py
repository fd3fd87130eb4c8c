"""Rows of float8 A whose sums are next to ties: of all sums of three products the nearest ones on either side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.golden.layer import MatMulLayer

__all__ = ["float8_ties", "middles", "unit_scale", "values_of"]

_SIGN = 0x80
_ELEMENTS = 3  # all their sums are searched: of two as a list, with the third one by one
_LEAST = 64  # rows of a column
_ROUNDS = 4  # of a column, each with other elements
_MOST_MIDDLES = 120  # of results that are integers, small ones and great ones


def float8_ties(layer: MatMulLayer, m: int, generator: np.random.Generator) -> npt.NDArray[Any]:
    """Up to `m` rows, [m, K]: their sums of one column, times its scale, are next to the ties of all results, on either
    side, and of either sign. Columns are left out if each would have too few rows; there are fewer rows if there are no
    more ties.
    """
    form = layer.a_format
    if not isinstance(form, Float8Format):
        raise TypeError(f"a_format must be a float8 format, not {form}")
    weights, scale, halves = layer.b_units.astype(np.float64), unit_scale(layer, form), middles(layer)
    columns = generator.permutation(layer.n)[: max(m // _LEAST, 1)]
    found = [np.zeros((0, layer.k), np.uint8)]
    for index, n in enumerate(columns):
        share = (m - sum(map(len, found))) // (len(columns) - index)
        found.append(_of_column(form, weights[:, n], halves / scale[n], share, generator))
    a = np.concatenate(found)
    numbers = a & ~np.uint8(_SIGN) != 0
    return np.where(numbers & (generator.random((len(a), 1)) < 0.5), a ^ _SIGN, a).view(form.dtype)


def unit_scale(layer: MatMulLayer, form: Float8Format) -> npt.NDArray[np.float64]:
    """The factor of each column's sum in units, [N]."""
    scale = np.ldexp(layer.scale.astype(np.float64), form.unit + layer.b_format.unit)
    return np.broadcast_to(scale, layer.n)


def middles(layer: MatMulLayer) -> npt.NDArray[np.float64]:
    """Magnitudes half way between results, before a zero point is added: of float8 all, of integers some."""
    form = layer.y_format
    if isinstance(form, Float8Format):
        results = np.ldexp(values_of(form, np.arange(form.max_code + 1)), form.unit)
        return (results[1:] + results[:-1]) / 2
    most = max(abs(end - layer.y_zero_point) for end in form.ends)
    return np.unique(np.rint(np.geomspace(1, most, _MOST_MIDDLES))) - 0.5


def values_of(form: Float8Format, codes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Values in units of the least; 0 for NaN and infinities."""
    decoded = form.decode(codes.astype(np.uint8))
    return np.ldexp(decoded.significand.astype(np.float64), decoded.shift)


def _of_column(
    form: Float8Format,
    weights: npt.NDArray[np.float64],
    ties: npt.NDArray[np.float64],
    m: int,
    generator: np.random.Generator,
) -> npt.NDArray[np.uint8]:
    """Up to `m` rows for one column of `weights` in units; some with three elements that are not zeros."""
    codes = np.concatenate([[0], (np.arange(1, form.max_code + 1)[:, None] | [0, _SIGN]).ravel()])
    values = values_of(form, codes)
    some = np.flatnonzero(weights)
    rows = np.zeros((0, len(weights)), np.uint8)
    for _ in range(_ROUNDS if len(some) > _ELEMENTS else 1):
        if len(rows) < m and len(some):
            elements = generator.permutation(some)[:_ELEMENTS]
            nearest = _nearest(values, weights[elements], ties)
            chosen = generator.permutation(nearest)[: m - len(rows)]
            more = np.zeros((len(chosen), len(weights)), np.uint8)
            more[:, elements] = codes[chosen]
            rows = np.concatenate([rows, more])
    return rows


def _nearest(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], ties: npt.NDArray[np.float64]
) -> npt.NDArray[np.intp]:
    """For each tie within reach the places in `values` of the numbers whose sum with up to three `weights` is the
    nearest above it, or equal, and the nearest below it, [.., elements].
    """
    *first, last = weights
    pairs = np.zeros(1)
    for weight in first:
        pairs = np.add.outer(pairs, values * weight).ravel()
    order = np.argsort(pairs, kind="stable")
    ordered = pairs[order]
    found = []
    for tie in ties[ties < np.abs(weights).sum() * np.abs(values).max()]:
        wanted = tie - values * last
        at = np.searchsorted(ordered, wanted)
        for side in (at, at - 1):
            there = (side >= 0) & (side < len(ordered))
            away = np.where(there, np.abs(ordered[side.clip(0, len(ordered) - 1)] - wanted), np.inf)
            best = int(away.argmin())
            if there[best]:
                places = np.unravel_index(order[side[best]], (len(values),) * len(first)) if first else ()
                found.append([*map(int, places), best])
    return np.array(found, np.intp).reshape(len(found), len(weights))
