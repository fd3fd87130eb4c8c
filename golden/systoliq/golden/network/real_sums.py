"""Sums in float32, in integers: numbers are multiples of one unit, and each addition keeps 24 significant bits.

    total = 0, then total = round24(total + (tables[t][x] << s)) for each pixel x, whose weight is (t, s)
    e = saturate((((total >> drop) * multiplier) >> shift) + zero_point), at most the largest result less one
    y = e + (total >= thresholds[e])

The unit is the last place of the least number that is not 0; larger ones are multiples of it. So a sum of integers,
rounded half to even where it has more than 24 bits, is the sum in float32. The thresholds hold the divisions, the zero
point and the rounding to an integer, whatever their ties. An average has one table, and no shifts. Weights that differ
by a power of two share a table; a weight of 0 has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..formats import IntFormat, signed_bits

if TYPE_CHECKING:
    from .linear import LinearResize
    from .pools import WindowedAverage
    from .tensor import Tensor

__all__ = ["MOST_TABLES", "RealSums", "round24"]

MOST_TABLES = 64
"""Weights of which none is another one times a power of two."""

_SIGNIFICANT = 24
_MOST_BITS = 60
_MOST_SHIFT = 40


@dataclass(frozen=True, kw_only=True)
class RealSums:
    """The constants. `tables` [tables][256]: by the integer, from the least up, in units; `thresholds` [255]: for each
    result but the largest, in order, the least total beyond it. `bits`: of every total, before it is rounded, too.
    `weights`: table and shift of each weight, by its number in float32; empty for an average, whose pixels count alike.
    """

    tables: tuple[tuple[int, ...], ...]
    weights: dict[float, tuple[int, int]]
    bits: int
    drop: int
    multiplier: int
    shift: int
    zero_point: int
    thresholds: tuple[int, ...]
    output: IntFormat

    @classmethod
    def of(cls, node: WindowedAverage) -> RealSums:
        """Return the sums of an average whose windows all count the same number of pixels.

        Raises ValueError if they do not, or if scales are so far apart that no line is near the results.
        """
        node.expect_same_counts()
        (x,) = node.inputs
        return cls._of(
            x.dequantize(x.codes)[np.newaxis],
            {},
            int(np.prod(node.window.kernel)),
            lambda total: node.rounded(total, node.pixels),
            node.pixels * float(node.output.scale),
            node.output,
        )

    @classmethod
    def of_linear(cls, node: LinearResize) -> RealSums:
        """Return the sums of a linear interpolation.

        Raises ValueError if there are more than `MOST_TABLES` weights, or weights or scales are too far apart.
        """
        (x,) = node.inputs
        weights = np.unique(node.weights[node.weights != 0])
        mantissas, exponents = np.frexp(weights)
        kinds = np.unique(mantissas)
        if len(kinds) > MOST_TABLES:
            raise ValueError(
                f"its weights must be at most {MOST_TABLES} numbers times powers of two, not {len(kinds)}: resize by a "
                "power of two, and by half_pixel where it is align_corners"
            )
        places = {
            float(weight): (int(np.searchsorted(kinds, mantissa)), int(exponent - exponents.min()))
            for weight, mantissa, exponent in zip(weights, mantissas, exponents, strict=True)
        }
        least = np.ldexp(kinds, int(exponents.min())).astype(np.float32)
        real = least[:, np.newaxis] * x.dequantize(x.codes)
        return cls._of(real, places, 4, node.output.quantize, float(node.output.scale), node.output)

    @classmethod
    def _of(
        cls,
        real: npt.NDArray[np.float32],
        weights: dict[float, tuple[int, int]],
        terms: int,
        finish: Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]],
        step: float,
        y: Tensor,
    ) -> RealSums:
        """Sums of `terms` of the numbers `real` [tables, 256]; a result is `finish` of it, about a `step` for each."""
        numerators = [float(value).as_integer_ratio() for value in real.ravel()]
        denominator = max(below for _, below in numerators)
        entries = [above * (denominator // below) for above, below in numerators]
        spare = min(((each & -each).bit_length() - 1 for each in entries if each), default=0)
        entries = [each >> spare for each in entries]
        unit = 2.0**spare / denominator
        most = max(map(abs, entries)) * terms << max((shift for _, shift in weights.values()), default=0)
        bits = signed_bits(-2 * most, 2 * most)  # a rounded sum may be a power of two beyond the exact one
        if bits > _MOST_BITS:
            raise ValueError(f"sums of pixels must have at most {_MOST_BITS} bits, not {bits}")

        def results(totals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            return np.asarray(finish((totals * unit).astype(np.float32)), np.int64)

        thresholds = _thresholds(results, np.arange(y.format.min, y.format.max), 1 << bits - 1)
        slope = unit / step
        drop = max(int(np.floor(np.log2(1 / (4 * slope)))), 0)
        tables = [tuple(entries[start : start + 256]) for start in range(0, len(entries), 256)]
        for shift in range(_MOST_SHIFT):
            found = cls(
                tables=tuple(tables), weights=weights, bits=bits, drop=drop,
                multiplier=round(slope * 2.0 ** (drop + shift)), shift=shift, zero_point=y.zero_point,
                thresholds=tuple(thresholds.tolist()), output=y.format,
            )  # fmt: skip
            if found._near():
                return found
        raise ValueError("the scales must not be so far apart that a result is no line of its sum")

    def estimate(self, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The result, or one less."""
        line = ((totals >> self.drop) * self.multiplier >> self.shift) + self.zero_point
        found: npt.NDArray[np.int64] = np.clip(line, self.output.min, self.output.max - 1)
        return found

    def apply(self, x: npt.NDArray[Any], weights: npt.NDArray[np.float32] | None = None) -> npt.NDArray[Any]:
        """The results for integers [..., pixels], counted from 0; `weights` [..., pixels] where pixels have any."""
        tables, total = np.array(self.tables), np.zeros(x.shape[:-1], np.int64)
        for pixel in range(x.shape[-1]):
            if weights is None:
                entries = tables[0, x[..., pixel]]
            else:
                places = [self.weights.get(float(each), (0, -1)) for each in weights[..., pixel].ravel()]
                table, shift = np.array(places).T.reshape(2, *x.shape[:-1])
                entries = np.where(shift < 0, 0, tables[table, x[..., pixel]] << np.maximum(shift, 0))
            total = round24(total + entries)
        estimate = self.estimate(total)
        y = estimate + (total >= np.array(self.thresholds)[estimate - self.output.min])
        return y.astype(self.output.dtype)

    def _near(self) -> bool:
        """True if the estimate is right or one too low for every total: for both totals beside each change of it, and
        of the result.
        """
        thresholds = np.array(self.thresholds)
        span = 1 << self.bits - 1
        cell = 1 << self.drop
        cells = np.clip(thresholds >> self.drop, -(span >> self.drop), (span >> self.drop) - 1)
        places = np.arange(cells.min() - 2, cells.max() + 3) << self.drop
        beside = np.concatenate([places, places + cell - 1, thresholds, thresholds - 1, [-span]])
        totals = np.clip(beside, -span, span - 2)  # no total is span - 1, where a threshold is that nothing passes
        y = self.output.min + np.searchsorted(thresholds, totals, side="right")
        return bool(np.isin(y - self.estimate(totals), (0, 1)).all())


def round24(totals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return `totals` rounded to 24 significant bits, half to even."""
    magnitude = totals ^ (totals >> 63)  # one less where negative: it matters for powers of two alone, which stay
    powers = np.int64(1) << np.arange(_SIGNIFICANT, 63, dtype=np.int64)
    dropped = np.searchsorted(powers, magnitude, side="right").astype(np.int64)
    half = np.int64(1) << dropped >> 1
    odd = totals >> dropped & 1
    rounded: npt.NDArray[np.int64] = (totals + np.where(dropped > 0, half - 1 + odd, 0)) >> dropped << dropped
    return rounded


def _thresholds(
    results: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]], below: npt.NDArray[np.integer], span: int
) -> npt.NDArray[np.int64]:
    """For each of `below`, the least total, from -`span` to `span` - 1, whose result is beyond; `span` - 1 if none is.

    `results` rise with float32 numbers, to which it rounds totals. Totals that are no float32 numbers do not occur.
    """
    low, high = np.full(len(below), -span, np.int64), np.full(len(below), span - 1, np.int64)
    while (low < high).any():
        middle = low + (high - low >> 1)
        beyond = results(middle) > below
        low, high = np.where(beyond, low, middle + 1), np.where(beyond, middle, high)
    return low
