"""Rows of float8 A for the stimulus of a layer: greatest and least values, NaN and infinities, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.golden.layer import MatMulLayer

from .float8_ties import middles, unit_scale, values_of

__all__ = ["float8_rows", "float8_sums"]

_SIGN = 0x80
_SHARE = 0.8  # of the elements
_MOST_PLACES = 40  # of a sum, in which it is as a tie
_TRIES = 8  # to come near a tie from below
_ABOVE, _ELEMENTS = 2.0**-14, 16  # beyond a power of two, so few elements come that near


def float8_rows(
    layer: MatMulLayer, m: int, generator: np.random.Generator, *, positive: npt.NDArray[np.bool_]
) -> npt.NDArray[Any]:
    """`m` rows: every second of the first is special, the others are random numbers of every swing.

    `positive` [K] says which weights of column 0 are.
    """
    form = layer.a_format
    if not isinstance(form, Float8Format):
        raise TypeError(f"a_format must be a float8 format, not {form}")
    swing = 2.0 ** (form.unit + generator.integers(form.mantissa_bits, form.max_units.bit_length(), (m, 1)))
    a = form.encode(generator.uniform(-1, 1, (m, layer.k)) * swing)
    for row, values in zip(range(0, m, 2), _special(form, a[0], positive, generator), strict=False):
        a[row] = values
    return a.view(form.dtype)


def float8_sums(layer: MatMulLayer, m: int, generator: np.random.Generator) -> npt.NDArray[Any]:
    """`m` rows whose sums have every bit alone: all numbers, one in a row, then sums of one column, of any sign, just
    above a power of two, or with a product by its scale that is on either side of a tie, as near as is found.

    Ties are those of all the results that sums reach, least ones too: so each digit of a product is once the leading
    one, and once distinguishes a tie from a number next to it, with whatever is carried into it.
    """
    form, k = layer.a_format, layer.k
    if not isinstance(form, Float8Format):
        raise TypeError(f"a_format must be a float8 format, not {form}")
    numbers = (np.arange(1, form.max_code + 1)[:, None] | [0, _SIGN]).ravel()
    alone = generator.permutation(numbers)[: (m + 1) // 2]
    a = np.zeros((m, k), np.uint8)
    a[np.arange(len(alone)), generator.integers(k, size=len(alone))] = alone
    values = values_of(form, np.arange(form.max_code + 1))
    weights, halves = layer.b_units.astype(np.float64), middles(layer)
    scale = unit_scale(layer, form)
    for row in range(len(alone), m):
        n = int(generator.integers(layer.n))
        column = weights[:, n]
        most = np.abs(column).sum() * values[-1]
        ties = halves / scale[n]
        reached = ties[ties < most]
        if row % 2 or not len(reached):
            power = generator.integers(np.log2(most)) if most > 1 else 0
            a[row], _ = _row(2.0**power * (1 + _ABOVE), column, values, generator)
        else:
            beside = _just_above if generator.integers(2) else _just_below
            great = int(generator.integers(len(reached), size=2).max())  # sums come the nearer to a tie
            a[row] = beside(float(reached[great]), column, values, generator)
    return a.view(form.dtype)


def _just_above(
    tie: float, weights: npt.NDArray[np.float64], values: npt.NDArray[np.float64], generator: np.random.Generator
) -> npt.NDArray[Any]:
    """Codes whose sum is above `tie` by as little as is found, if any is found."""
    for places in range(_MOST_PLACES, 0, -2):
        wanted = max(tie * (1 + 2.0**-places), np.floor(tie) + 1)  # sums are integers
        codes, left = _row(wanted, weights, values, generator)
        if left < wanted - tie:
            break
    return codes


def _just_below(
    tie: float, weights: npt.NDArray[np.float64], values: npt.NDArray[np.float64], generator: np.random.Generator
) -> npt.NDArray[Any]:
    """Codes whose sum is `tie`, or below it by as little as is found."""
    tries = [_row(tie, weights, values, generator) for _ in range(_TRIES)]
    codes, _ = min(tries, key=lambda found: found[1])
    return codes


def _row(
    wanted: float, weights: npt.NDArray[np.float64], values: npt.NDArray[np.float64], generator: np.random.Generator
) -> tuple[npt.NDArray[Any], float]:
    """Codes whose products with the `weights` add up to `wanted`, or to minus it, but for little that is `left`."""
    codes = np.zeros(len(weights), np.int64)
    sign = generator.integers(2)
    some = np.flatnonzero(weights * (generator.random(len(weights)) < _SHARE))
    used = 0
    for i in some[np.argsort(-np.abs(weights[some]))]:
        magnitude = abs(weights[i])
        code = int(np.searchsorted(values, wanted / magnitude, side="right")) - 1
        if code:  # else the weight is too large for the rest
            codes[i] = code | _SIGN * ((weights[i] < 0) ^ sign)
            wanted -= values[code] * magnitude
            used += 1
        if used == _ELEMENTS:
            break
    return codes, wanted


def _special(
    form: Float8Format, row: npt.NDArray[np.uint8], positive: npt.NDArray[np.bool_], generator: np.random.Generator
) -> list[npt.NDArray[np.uint8]]:
    """Sums of column 0 at both ends; any codes; one NaN; one infinity of each sign; the least values; zeros."""
    k = len(row)
    any_code = generator.integers(0, 256, k).astype(np.uint8)
    odd = [form.nan_code, *([] if form.infinity_code is None else [form.infinity_code, form.infinity_code | _SIGN])]
    at = int(generator.integers(k))
    return [
        np.where(positive, form.max_code, form.max_code | _SIGN).astype(np.uint8),
        np.where(positive, form.max_code | _SIGN, form.max_code).astype(np.uint8),
        *(np.where(np.arange(k) == at, code, row).astype(np.uint8) for code in odd),
        np.full(k, 1, np.uint8),
        np.zeros(k, np.uint8),
        any_code,
    ]
