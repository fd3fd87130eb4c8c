"""Sums in float32, in integers: numbers are multiples of one unit, and each addition keeps 24 significant bits.

    total = 0, then total = round24(total + entries[x]) for each pixel x of a window
    e = saturate((((total >> drop) * multiplier) >> shift) + zero_point), at most the largest result less one
    y = e + (total >= thresholds[e])

The unit is the last place of the least number that is not 0; larger ones are multiples of it. So a sum of integers,
rounded half to even where it has more than 24 bits, is the sum in float32. The thresholds hold the divisions, the zero
point and the rounding to an integer, whatever their ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..formats import IntFormat, signed_bits

if TYPE_CHECKING:
    from .pools import WindowedAverage

__all__ = ["RealSums", "round24"]

_SIGNIFICANT = 24
_MOST_BITS = 60
_MOST_SHIFT = 40


@dataclass(frozen=True, kw_only=True)
class RealSums:
    """The constants. `entries` [256]: by the integer, from the least up, in units; `thresholds` [255]: for each result
    but the largest, in order, the least total beyond it. `bits`: of every total, before it is rounded, too.
    """

    entries: tuple[int, ...]
    bits: int
    drop: int
    multiplier: int
    shift: int
    zero_point: int
    thresholds: tuple[int, ...]
    output: IntFormat

    @classmethod
    def of(cls, node: WindowedAverage) -> RealSums:
        """Return those of an average whose windows all count the same number of pixels.

        Raises ValueError if they do not, or if scales are so far apart that no line is near the results.
        """
        (x,), y = node.inputs, node.output
        node.expect_same_counts()
        numerators = [float(value).as_integer_ratio() for value in x.dequantize(x.codes)]
        denominator = max(below for _, below in numerators)
        entries = [above * (denominator // below) for above, below in numerators]
        spare = min(((each & -each).bit_length() - 1 for each in entries if each), default=0)
        entries = [each >> spare for each in entries]
        unit = 2.0**spare / denominator
        most = max(map(abs, entries)) * int(np.prod(node.window.kernel))
        bits = signed_bits(-2 * most, 2 * most)  # a rounded sum may be a power of two beyond the exact one
        if bits > _MOST_BITS:
            raise ValueError(f"sums of pixels must have at most {_MOST_BITS} bits, not {bits}")

        def results(totals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            real = (totals * unit).astype(np.float32)
            return np.asarray(node.rounded(real, node.pixels), np.int64)

        thresholds = _thresholds(results, np.arange(y.format.min, y.format.max), 1 << bits - 1)
        slope = unit / node.pixels / float(y.scale)
        drop = max(int(np.floor(np.log2(1 / (4 * slope)))), 0)
        for shift in range(_MOST_SHIFT):
            found = cls(
                entries=tuple(entries), bits=bits, drop=drop, multiplier=round(slope * 2.0 ** (drop + shift)),
                shift=shift, zero_point=y.zero_point, thresholds=tuple(thresholds.tolist()), output=y.format,
            )  # fmt: skip
            if found._near():
                return found
        raise ValueError("the scales must not be so far apart that an average is no line of its sum")

    def estimate(self, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The result, or one less."""
        line = ((totals >> self.drop) * self.multiplier >> self.shift) + self.zero_point
        found: npt.NDArray[np.int64] = np.clip(line, self.output.min, self.output.max - 1)
        return found

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The results for integers [..., pixels], counted from 0."""
        entries, total = np.array(self.entries), np.zeros(x.shape[:-1], np.int64)
        for pixel in range(x.shape[-1]):
            total = round24(total + entries[x[..., pixel]])
        estimate = self.estimate(total)
        y = estimate + (total >= np.array(self.thresholds)[estimate - self.output.min])
        return y.astype(self.output.dtype)

    def _near(self) -> bool:
        """Whether the estimate is right or one too low for every total: for both totals beside each change of it, and
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
