"""Thresholds of results with float8: the sums at which results change, and the sums that weights can reach.

A scale is positive, and rounding never falls as its number rises. So the smallest sum of each result, at most 255 of
them for 8 bits, defines a column over a range of sums. Sums are Python integers in units of both operands' smallest
values, of up to 96 bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .float8 import Float8Format
from .float8_matmul import Sums
from .float8_requantization import Float8Requantization
from .layer import MatMulLayer
from .operand import Format
from .wide import Wide

_SIGN = 0x80


def reachable_sums(layer: MatMulLayer) -> tuple[list[int], list[int]]:
    """Return the smallest and the largest sum of each column of a layer with float8, over all finite A.

    Sums with weights that are not numbers are not numbers either; such weights count as 0 here. Sums of integers do not
    wrap here.
    """
    if not layer.has_float8:
        raise TypeError(f"a, b or y must be float8, not {layer.a_format}, {layer.b_format} and {layer.y_format}")
    if layer.multiplies_integers:
        lo, hi = layer.accumulator_range()
        return lo.tolist(), hi.tolist()
    weights = layer.b_units.astype(object)
    least, most = (weights * (end - layer.a_zero_point) for end in layer.a_format.ends)
    return np.minimum(least, most).sum(axis=0).tolist(), np.maximum(least, most).sum(axis=0).tolist()


def float8_steps(
    requantization: Float8Requantization, unit: int, lo: list[int], hi: list[int]
) -> list[list[tuple[int, int]]]:
    """(sum, result) at lo and wherever the result changes after it, up to hi, for each column of `requantization`.

    A sum counts 2^unit; lo and hi have one entry per column. Results of float8 are codes.
    """
    first, last = _ends(requantization.output)
    levels = np.arange(first + 1, last + 1)[:, np.newaxis]
    least, most = (np.array(ends, object) for ends in (lo, hi))
    start = np.broadcast_to(least, (levels.size, len(lo))).copy()
    beyond = np.broadcast_to(most + 1, start.shape).copy()
    for _ in range(max(high - low + 1 for low, high in zip(lo, hi, strict=True)).bit_length()):
        middle = np.minimum((start + beyond) // 2, most)
        reached = _levels(requantization, middle, unit) >= levels
        beyond, start = np.where(reached, middle, beyond), np.where(reached, start, middle + 1)
    return [_changes(start[:, n], lo[n], hi[n], requantization.output) for n in range(len(lo))]


def _ends(output: Format) -> tuple[int, int]:
    """The lowest and the highest level."""
    return (-output.max_code - 1, output.max_code) if isinstance(output, Float8Format) else output.ends


def _levels(requantization: Float8Requantization, sums: npt.NDArray[np.object_], unit: int) -> npt.NDArray[np.int64]:
    """The results for `sums` as integers in the order of their values: for float8, -0 is -1."""
    none = np.zeros(sums.shape, np.int8)
    results = requantization.apply(Sums(Wide.of_integers(sums, unit), none != 0, none))
    if not isinstance(requantization.output, Float8Format):
        return results.astype(np.int64)
    codes = results.view(np.uint8).astype(np.int64)
    return np.where(codes < _SIGN, codes, _SIGN - 1 - codes)


def _changes(start: npt.NDArray[np.object_], lo: int, hi: int, output: Format) -> list[tuple[int, int]]:
    """(sum, result) from the least sum of each level but the lowest; one that is not reached begins with the next."""
    lowest, _ = _ends(output)
    found = {lo: lowest} | {begin: level for level, begin in enumerate(start.tolist(), lowest + 1) if begin <= hi}
    if isinstance(output, Float8Format):
        return [(begin, level if level >= 0 else _SIGN - 1 - level) for begin, level in found.items()]
    return list(found.items())
