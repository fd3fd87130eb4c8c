"""Rows of A that put sums where a requantizer decides: on both sides of its steps, those nearest to ties first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.formats import INT32
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.requantization import Requantization
from systoliq.golden.thresholds import integer_steps
from systoliq.golden.unscaled import Unscaled

__all__ = ["steered_rows"]

_ATTEMPTS = 3  # random rows to start from
_BEYOND = 16  # at most one sum in 16 lies beyond the outputs
_BELOW = 3  # bits below the leading one of products beyond the outputs, each in all ways
_LOOKED_AT = 1 << 21  # sums of all columns, at the most, for those beside ties
_FEW_BITS, _BEST = 8, 3
_VALUES, _TRIED = 128, 4096  # of an element, and sums of the first pair
_MOVES = 40  # changes of an element or two on the way to a sum


def steered_rows(
    layer: MatMulLayer,
    requantization: Requantization | Float8Requantization | Unscaled,
    m: int,
    generator: np.random.Generator,
) -> npt.NDArray[Any]:
    """At most `m` rows [., K], each with a sum next to a step of one column.

    Of each column in turn come the steps nearest to a tie (on it, where there is one), the first and the last, then
    others; and each element is at both ends of A's format in some. None where operands, or outputs, are not integers,
    or where sums may leave int32.
    """
    none = np.zeros((0, layer.k), layer.a_format.dtype)
    if not isinstance(requantization, Requantization) or layer.takes_zero_points or layer.has_float8:
        return none
    canonical = layer.canonical
    low, high = canonical.accumulator_range()
    if low.min() < INT32.min or high.max() > INT32.max:
        return none
    # a few columns of a wide layer, else the least of its rows would do nothing but this
    columns = generator.permutation(layer.n)[: max(m // 2, 1)]
    count = 2 * m // len(columns) + 2
    looked_at = _LOOKED_AT // len(columns)
    goals = {n: _goals(requantization, n, (low[n], high[n]), count, looked_at, generator) for n in columns.tolist()}
    rows: list[npt.NDArray[np.int64]] = []
    a_format = integer_format("a_format", layer.a_format)
    ends = {n: itertools.cycle(itertools.product((a_format.min, a_format.max), range(layer.k))) for n in goals}
    for n, goal in _in_turn(goals, alike=requantization.columns == 1):
        if len(rows) == m:
            break
        if (row := _row(canonical, n, goal, next(ends[n]), generator)) is not None:
            rows.append(row)
    return np.array(rows, layer.a_format.dtype) if rows else none


def _in_turn(goals: dict[int, list[int]], *, alike: bool) -> Iterator[tuple[int, int]]:
    """A column and its next sum, in turn; where columns are `alike` first those that no other column has had."""
    taken: set[int] = set()
    while any(goals.values()):
        for n, sums in goals.items():
            if sums:
                at = next((at for at, acc in enumerate(sums) if acc not in taken), 0) if alike else 0
                taken.add(sums[at])
                yield n, sums.pop(at)


def _goals(
    requantization: Requantization, n: int, reach: tuple[int, int], count: int, looked_at: int,
    generator: np.random.Generator,
) -> list[int]:  # fmt: skip
    """Up to `count` sums of column `n`, which reaches from one to the other of `reach`: below and on its steps those
    nearest to ties; the ends, some beyond, and some that differ from a tie in a few bits, in any order; then others.
    """
    column = requantization if requantization.columns == 1 else requantization.column(n)
    low, high = map(int, reach)
    starts = np.unique(integer_steps(column, low, high).start)
    starts = starts[(starts > low) & (starts <= high)]
    if not starts.size:
        return [low, high]
    distance = np.minimum(_from_tie(column, starts - 1), _from_tie(column, starts))
    nearest = starts[np.argsort(distance, kind="stable")].tolist()
    drawn = generator.permutation(starts).tolist()
    others = [step for pair in zip(nearest[2:], drawn[2:], strict=True) for step in pair]
    first, last = int(starts[0]), int(starts[-1])
    chosen = [acc for step in nearest[:2] for acc in (step - 1, step)]
    ends = [acc for step in (first, last) for acc in (step - 1, step)]
    beyond = _beyond(column, last, high, generator) + _beyond(column, first - 1, low, generator)
    ends += generator.permutation(beyond)[: count // _BEYOND].tolist()
    chosen += generator.permutation(ends + _beside_ties(column, first - 1, last, looked_at, generator)).tolist()
    chosen += [acc for step in others for acc in (step - 1, step)]
    return list(dict.fromkeys(chosen))[:count]


def _beyond(column: Requantization, end: int, most: int, generator: np.random.Generator) -> list[int]:
    """Sums from the `end` of the outputs to `most`: for each place of their product's leading bit, one with each lower
    bit.
    """
    multiplier, sign = int(column.multiplier[0]), 1 if most > end else -1
    least, most = sorted((abs(end), abs(most))) if end * most > 0 else (0, abs(most))
    found = []
    for place in range(max((least * multiplier).bit_length() - 1, _BELOW), (most * multiplier).bit_length()):
        for leading in range(1 << _BELOW, 2 << _BELOW):
            start, stop = (-(-(each << place >> _BELOW) // multiplier) for each in (leading, leading + 1))
            start, stop = max(start, least), min(stop, most + 1)
            if start < stop:
                found.append(sign * int(generator.integers(start, stop)))
    return found


def _beside_ties(
    column: Requantization, low: int, high: int, looked_at: int, generator: np.random.Generator
) -> list[int]:
    """Sums from `low` to `high` whose products differ from a tie in a few bits: A tie would be rounded to another
    result: above one it is even, below one odd.
    """
    multiplier, shift = int(column.multiplier[0]), int(column.shift[0])
    sums = np.arange(low, high + 1) if high - low < looked_at else generator.integers(low, high + 1, looked_at)
    one = 1 << shift
    products = sums.astype(np.int64) * multiplier
    fractions, even = products & (one - 1), (products >> shift) % 2 == 0
    found: list[int] = []
    for above in (True, False):
        tells = ((fractions >= one // 2) == above) & (even == above)
        found += _near_a_tie_by_few_bits(sums[tells], fractions[tells] if above else one - 1 - fractions[tells], shift)
    return found


def _near_a_tie_by_few_bits(sums: npt.NDArray[np.int64], fractions: npt.NDArray[np.int64], shift: int) -> Iterator[int]:
    """Elements of `sums` whose `fractions` of `shift` bits, from a half on, differ from a half in few bits: some for
    each place of the lowest bit.
    """
    one = 1 << shift
    for place in range(1, shift + 1):
        near = fractions - one // 2 <= one >> max(place - _FEW_BITS, 0)
        sums, fractions = sums[near], fractions[near]
        # against what float32 rounds off, which is more where the sum is more
        rest = (fractions & ((one >> place) - 1)) / (np.abs(sums) + 1)
        best = np.argpartition(rest, _BEST)[:_BEST] if len(rest) > _BEST else slice(None)
        yield from sums[best].tolist()


def _from_tie(column: Requantization, sums: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Distance of the products of `sums` from the middle between two integers, in units of the output."""
    multiplier, shift = column.multiplier[0], column.shift[0]
    one = 1 << shift
    return np.array([abs((int(x) * multiplier) % one - one / 2) / one for x in sums])


def _row(
    layer: MatMulLayer, n: int, goal: int, end: tuple[int, int], generator: np.random.Generator
) -> npt.NDArray[np.int64] | None:
    """A row whose sum in column `n` is `goal`, or None where none was found; where one is, an element k has the value
    of the `end` (value, k).
    """
    weights = layer.centered_b[:, n].astype(np.int64)
    offset = (0 if layer.bias is None else int(layer.bias[n])) - int(layer.a_zero_point or 0) * int(weights.sum())
    value, k = end
    others = np.arange(layer.k) != k
    row = np.full(layer.k, value, np.int64)
    found = _found(layer, weights[others], goal - offset - value * int(weights[k]), generator)
    if found is None:
        return _found(layer, weights, goal - offset, generator)
    row[others] = found
    return row


def _found(
    layer: MatMulLayer, weights: npt.NDArray[np.int64], goal: int, generator: np.random.Generator
) -> npt.NDArray[np.int64] | None:
    """Elements of A whose products with `weights` add up to `goal`, or None where none were found."""
    divisor = int(np.gcd.reduce(weights))  # of every sum; 0 of no weights but zeros
    if goal % divisor if divisor else goal:
        return None
    a_format = integer_format("a_format", layer.a_format)
    for _ in range(_ATTEMPTS):
        row = generator.integers(a_format.min, a_format.max + 1, len(weights))
        for _ in range(_MOVES):
            miss = goal - int(row @ weights)
            if miss == 0:
                return row
            if not _approach(row, weights, miss, a_format.min, a_format.max, generator):
                break
        if _meet(row, weights, goal, a_format.min, a_format.max, generator):
            return row
    return None


def _meet(
    row: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], goal: int, least: int, most: int,
    generator: np.random.Generator,
) -> bool:  # fmt: skip
    """Change up to four elements of `row` so that its sum is `goal`: two pairs of them meet in the middle."""
    at = generator.permutation(np.flatnonzero(weights))[:4]
    if not at.size:
        return False
    span = np.arange(least, most + 1) if most - least < _VALUES else generator.integers(least, most + 1, _VALUES)
    pairs = [at[:2], at[2:]]
    products = [[span * weights[each] for each in pair] + [np.zeros(1, np.int64)] * (2 - len(pair)) for pair in pairs]
    first, second = (np.add.outer(*each).ravel() for each in products)
    rest = goal - int(row @ weights) + int(row[at] @ weights[at])
    tried = generator.permutation(first.size)[:_TRIED]
    wanted = rest - first[tried]
    hits = np.flatnonzero(np.isin(wanted, second))
    if not hits.size:
        return False
    chosen = (int(tried[hits[0]]), int(np.argmax(second == wanted[hits[0]])))
    for pair, table, index in zip(pairs, products, chosen, strict=True):
        for each, position in zip(pair, np.unravel_index(index, [len(column) for column in table]), strict=False):
            row[each] = span[position]
    return True


def _approach(
    row: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], miss: int, least: int, most: int,
    generator: np.random.Generator,
) -> bool:  # fmt: skip
    """Change an element of `row`, or two of them by 1 in opposite directions, so that `miss` becomes less."""
    wanted = np.rint(miss / np.where(weights == 0, np.inf, weights)).astype(np.int64)
    change = np.minimum(np.maximum(wanted, least - row), most - row)
    left = np.abs(miss - change * weights)
    best = int(left.min(initial=abs(miss)))
    if best < abs(miss):
        near = np.flatnonzero(left <= best + abs(miss) // 8)
        at = int(near[generator.integers(len(near))])
        if left[at] < abs(miss):
            row[at] += change[at]
            return True
    ups, downs = np.flatnonzero(row < most), np.flatnonzero(row > least)
    pairs = weights[ups][:, None] - weights[downs][None, :]
    gap = np.abs(miss - pairs)
    if not gap.size or int(gap.min()) >= abs(miss):
        return False
    up, down = divmod(int(gap.argmin()), len(downs))
    row[ups[up]] += 1
    row[downs[down]] -= 1
    return True
