"""Rows of float8 A for the stimulus of a layer: greatest and least values, what is no number, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.golden.layer import MatMulLayer

__all__ = ["float8_rows"]

_SIGN = 0x80


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
