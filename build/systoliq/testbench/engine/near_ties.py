"""Jobs of sums near ties: each column has its own scale, and a sum whose product differs from a tie in few bits.

The differing bit takes every place of a product of float32 mantissas, because a mask, a group of bits that are tested
together, or the search for float32's last place may be wrong for a single place.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import INT8, UINT8, matmul_integer, requantize_float32
from systoliq.golden.requantization import MANTISSA_BITS
from systoliq.hw.engine.host import Job

from ..beats import random_operands

__all__ = ["COLUMNS", "NearTie", "near_tie_jobs", "near_ties"]

COLUMNS = 96  # of a job, at the most
_MOST_JOBS = 12
_PLACES = 55  # of products: of 31 bits of a sum, whose range a bias must not leave, and 24 of a multiplier
_RESULTS = 1 << 7  # results lie below, in magnitude; some saturate with their zero point
_LEAST_MULTIPLIER, _MOST_MULTIPLIER = 1 << MANTISSA_BITS - 1, (1 << MANTISSA_BITS) - 1
_LONGEST = 31  # bits of a sum
_MOST_SUM = (1 << 31) - (1 << 17)  # less than int32 has by more than a product of two operands
_MOST_MOVED = 30  # places that a sum moves a product by
_LEAST_SHIFT = 16  # of scales below 2^8: larger ones saturate all
_TRIALS = 400


@dataclass(frozen=True)
class NearTie:
    """A sum, and a scale multiplier / 2^shift of 24 bits, whose product is a tie but for a few bits."""

    acc: int
    multiplier: int
    shift: int


class _Lost(enum.Enum):
    """Bits of a sum that float32 cannot hold, and the rounding of the last bit that it keeps."""

    TIE_UP = enum.auto()  # half of the last place, which is odd: one more
    TIE_DOWN = enum.auto()  # half of it, which is even: as it is
    MORE = enum.auto()  # half of it, and one bit
    LESS = enum.auto()  # half of it, less one bit
    ALL = enum.auto()


class _Beside(enum.Enum):
    """Distance from a tie: float32 rounds products to the tie from up to half of their last place."""

    INSIDE = enum.auto()
    HALF = enum.auto()
    OUTSIDE = enum.auto()  # but within a last place


def near_ties(generator: np.random.Generator) -> list[NearTie]:
    """For each place that a product in two's complement has: a tie and that bit set; the bits just below a tie, all
    set, and that one clear; and either with two bits. For each place of a leading bit: products on both sides of a tie
    whose float32 is just it, or just not; and products far beyond all results that only the leading bits distinguish.
    Sums of more bits than float32 has whose least bit decides the result.

    Results are even where bits are set and odd where they are clear: there a tie is rounded to another result. In
    random order; a few places, where sums have no such product, are missing.
    """
    found: list[NearTie | None] = []
    for place in range(_PLACES):
        for above in (True, False):
            found += [_with_low_bits(bits, place, above, generator) for bits in (0b1, 0b11)]
            found += [_beside(beside, place, above, alike, generator) for beside in _Beside for alike in (True, False)]
        found += [
            _beyond(place, *signs, generator) for signs in product((1, -1), (_LEAST_MULTIPLIER, _MOST_MULTIPLIER))
        ]
    for lost in range(1, _LONGEST - MANTISSA_BITS + 1):
        for what, sign in product(_Lost, (1, -1)):
            places = range(lost - 1) if what in (_Lost.MORE, _Lost.LESS) else range(1)
            found += [_rounded(what, lost, place, sign, generator) for place in places]
    ties = [tie for tie in found if tie is not None]
    return [ties[i] for i in generator.permutation(len(ties))]


def near_tie_jobs(m: int, n: int, generator: np.random.Generator) -> Iterator[tuple[Job, npt.NDArray[Any]]]:
    """Jobs [m, 1] x [1, n] to int8 with golden's answers, up to 12: in row 0 each column's sum is near a tie."""
    ties = near_ties(generator)
    for start in range(0, min(len(ties), _MOST_JOBS * n), n):
        yield _job(m, ties[start : start + n], generator)


def _job(m: int, ties: list[NearTie], generator: np.random.Generator) -> tuple[Job, npt.NDArray[Any]]:
    n = len(ties)
    a, b = random_operands(UINT8, (m, 1), generator), random_operands(INT8, (1, n), generator)
    a_zero_point, b_zero_point = random_operands(UINT8, (1,), generator), random_operands(INT8, (n,), generator)
    scale = np.array([np.ldexp(tie.multiplier, -tie.shift) for tie in ties], np.float32)
    products = matmul_integer(a, b, a_zero_point[0], b_zero_point)
    bias = (np.array([tie.acc for tie in ties]) - products[0]).astype(np.int32)
    y_zero_point = int(generator.integers(-3, 4))
    job = Job(
        a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point, bias=bias, scale=scale,
        y_zero_point=y_zero_point, y_format=INT8,
    )  # fmt: skip
    return job, requantize_float32(products + bias, scale, y_zero_point, INT8)


def _with_low_bits(bits: int, place: int, above: bool, generator: np.random.Generator) -> NearTie | None:
    """A product that differs from a tie in `bits`, the lowest of which is at `place`.

    Sums are powers of two times a small number: the multiplier makes the low bits of the product what they are. Below
    a tie that takes a bit more than a multiplier has, since all must be set that float32 looks at.
    """
    for _ in range(_TRIALS):
        fraction_bits = int(generator.integers(16, MANTISSA_BITS + 1))  # of the product, before it is moved
        least, most = max(0, place - _MOST_MOVED), min(place, fraction_bits - bits.bit_length() - 1)
        if least > most:
            continue
        lowest = int(generator.integers(least, most + 1))
        half, differs = 1 << fraction_bits - 1, bits << lowest
        wanted = half + differs if above else half - 1 - differs
        factor = int(generator.choice([1, 3] if above else [3, 5, 7])) * int(generator.choice([1, -1]))
        inverse = pow(factor, -1, 1 << fraction_bits)
        low = wanted * inverse % (1 << fraction_bits)
        higher = range(-(low - _LEAST_MULTIPLIER >> fraction_bits), (_MOST_MULTIPLIER - low >> fraction_bits) + 1)
        multiplier = low + (int(generator.choice(higher)) << fraction_bits) if higher else 0
        tie = _tie(factor, place - lowest, multiplier, fraction_bits, above)
        if tie is not None:
            return tie
    return None


def _beside(beside: _Beside, place: int, above: bool, alike: bool, generator: np.random.Generator) -> NearTie | None:
    """A product with its leading bit at `place`, on one side of a tie, so far from it. Where they are to be `alike`,
    the result has five to seven bits, all like the leading one but perhaps the last.
    """
    most_bits = min(4 if beside is _Beside.HALF else MANTISSA_BITS, place - MANTISSA_BITS + 2)  # of the sum
    for _ in range(_TRIALS if most_bits > 1 else 0):
        bits = int(generator.integers(2, most_bits + 1))
        factor = int(generator.integers(1 << bits - 1, 1 << bits) | 1) * int(generator.choice([-1, 1]))
        leading = MANTISSA_BITS - 2 + bits + int(generator.integers(2))
        fraction_bits = leading + 1 - int(generator.integers(5 if alike else 0, 8))
        multiplier = int(generator.integers(_LEAST_MULTIPLIER, _MOST_MULTIPLIER))
        highest = -(2 << leading) if factor < 0 else (2 << leading) - 1
        result = ((highest if alike else factor * multiplier) >> fraction_bits + 1) * 2
        wanted = (2 * (result + (not above)) + 1) << fraction_bits - 1
        half_place = 1 << leading - MANTISSA_BITS
        wanted += half_place * (1 if above else -1) * (beside is _Beside.HALF)
        least, most = {
            _Beside.INSIDE: (1, half_place - 1),
            _Beside.HALF: (0, 0),
            _Beside.OUTSIDE: (half_place + 1, 2 * half_place - 1),
        }[beside]
        for multiplier in (wanted // factor, wanted // factor + 1, wanted // factor + 2):
            exact = factor * multiplier
            distance = (exact - wanted) * (1 if above else -1)
            if least <= distance <= most and abs(exact).bit_length() == leading + 1:
                tie = _tie(factor, place - leading, multiplier, fraction_bits, above)
                if tie is not None:
                    return tie
    return None


def _rounded(what: _Lost, lost: int, place: int, sign: int, generator: np.random.Generator) -> NearTie | None:
    """A sum that loses `bits` bits in float32, and a scale for which its two neighbours in float32 have different
    results; `place` is the place of the one more, or one less, bit.
    """
    half = 1 << lost - 1
    moved = {_Lost.TIE_UP: 0, _Lost.TIE_DOWN: 0, _Lost.MORE: 1 << place, _Lost.LESS: -1 << place, _Lost.ALL: half - 1}
    odd = what in (_Lost.TIE_UP, _Lost.LESS)  # then a tie would be rounded up
    for _ in range(_TRIALS):
        multiplier = int(generator.integers(_LEAST_MULTIPLIER, _MOST_MULTIPLIER))
        shift = int(generator.integers(2 * MANTISSA_BITS - 7, 2 * MANTISSA_BITS + 1)) + lost
        result = (int(generator.integers(_LEAST_MULTIPLIER, _MOST_MULTIPLIER)) * multiplier << lost) >> shift
        kept = ((2 * result + 1) << shift - 1) // (multiplier << lost)  # the next one lies beyond a tie
        in_range = _LEAST_MULTIPLIER <= kept < _MOST_MULTIPLIER
        acc = sign * ((kept << lost) + half + moved[what])
        two = np.array([sign * each << lost for each in (kept, kept + 1)])
        results = requantize_float32(two, np.float32(np.ldexp(multiplier, -shift)), 0, INT8)
        if kept % 2 == odd and abs(acc) < _MOST_SUM and in_range and results[0] != results[1]:
            return NearTie(acc, multiplier, shift)
    return None


def _beyond(place: int, sign: int, multiplier: int, generator: np.random.Generator) -> NearTie | None:
    """A product beyond all results, which only its leading bits, at `place` and just below, show."""
    moved = place - (MANTISSA_BITS - 1)
    shifts = range(max(_LEAST_SHIFT, moved - 6), place - 7)
    if not shifts or not 0 <= moved <= _MOST_MOVED:
        return None
    return NearTie(sign << moved, multiplier, int(generator.choice(shifts)))


def _tie(factor: int, moved: int, multiplier: int, fraction_bits: int, above: bool) -> NearTie | None:
    """(factor * 2^moved) times the multiplier, if these are a sum and a multiplier, and the result is even just where
    it is to be rounded `above` it.
    """
    result = factor * multiplier >> fraction_bits
    shift = fraction_bits + moved
    right = (
        _LEAST_MULTIPLIER <= multiplier <= _MOST_MULTIPLIER
        and moved >= 0
        and abs(factor) << max(moved, 0) < _MOST_SUM
        and shift >= _LEAST_SHIFT
        and -_RESULTS <= result < _RESULTS
        and result % 2 == (not above)
    )
    return NearTie(factor << moved, multiplier, shift) if right else None
