"""Thresholds of float8 results: the sums at which codes change, and the sums that a layer's weights can reach.

A scale is positive, and rounding never falls as its number rises: so a column is known over a range of sums by the
least sum of each code, at most 254 of them. Sums are Python integers in units of both operands' least values, of up to
96 bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .float8 import Float8Format
from .float8_matmul import Sums
from .float8_requantization import Float8Requantization
from .layer import MatMulLayer
from .wide import Wide

_SIGN = 0x80


def reachable_sums(layer: MatMulLayer) -> list[int]:
    """The greatest sum of each column of a float8 layer, over all finite A; the least is the same below 0.

    Of weights that are no numbers, sums are none either; they count as 0 here.
    """
    a, b = layer.a_format, layer.b_format
    if not (isinstance(a, Float8Format) and isinstance(b, Float8Format)):
        raise TypeError(f"a and b must be float8, not {a} and {b}")
    decoded = b.decode(layer.b)
    weights = (np.abs(decoded.significand) << decoded.shift).astype(object).sum(axis=0)
    return [int(weight) * a.max_units for weight in weights]


def float8_steps(
    requantization: Float8Requantization, unit: int, lo: list[int], hi: list[int]
) -> list[list[tuple[int, int]]]:
    """(sum, code) at lo and wherever the code changes after it, up to hi, for each column of `requantization`.

    A sum counts 2^unit; lo and hi have one entry per column.
    """
    output = requantization.output
    levels = np.arange(-output.max_code, output.max_code + 1)[:, np.newaxis]
    least, most = (np.array(ends, object) for ends in (lo, hi))
    start = np.broadcast_to(least, (levels.size, len(lo))).copy()
    beyond = np.broadcast_to(most + 1, start.shape).copy()
    for _ in range(max(high - low + 1 for low, high in zip(lo, hi, strict=True)).bit_length()):
        middle = np.minimum((start + beyond) // 2, most)
        reached = _levels(requantization, middle, unit) >= levels
        beyond, start = np.where(reached, middle, beyond), np.where(reached, start, middle + 1)
    return [_changes(start[:, n], lo[n], hi[n], output) for n in range(len(lo))]


def _levels(requantization: Float8Requantization, sums: npt.NDArray[np.object_], unit: int) -> npt.NDArray[np.int64]:
    """The codes of `sums` in the order of what they stand for: -0 is -1."""
    none = np.zeros(sums.shape, np.int8)
    codes = requantization.apply(Sums(Wide.of_integers(sums, unit), none != 0, none)).view(np.uint8).astype(np.int64)
    return np.where(codes < _SIGN, codes, _SIGN - 1 - codes)


def _changes(start: npt.NDArray[np.object_], lo: int, hi: int, output: Float8Format) -> list[tuple[int, int]]:
    """(sum, code) from the least sum of each level but the lowest; a level that is not reached begins with the next."""
    found = {lo: -output.max_code - 1}
    for index, begin in enumerate(start.tolist()):
        if begin <= hi:
            found[begin] = index - output.max_code
    return [(begin, level if level >= 0 else _SIGN - 1 - level) for begin, level in found.items()]
