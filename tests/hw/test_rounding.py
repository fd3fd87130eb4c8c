"""The rounding shift: integer part and direction of values at, next to and far from every tie."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from systoliq.golden.requantization import Rounding
from systoliq.hw.float32 import FLOAT32_BITS
from systoliq.hw.rounding import RoundingShift

from .bench import corner_of, trace

HALF = Fraction(1, 2)


def rounds_up(rounding, value, shift):
    """By the definition of each form, on exact fractions."""
    floor = value >> shift
    above = Fraction(value, 1 << shift) - floor
    if rounding is Rounding.FLOOR:
        return False
    unit = Fraction(1 << max(abs(value).bit_length() - FLOAT32_BITS, 0), 1 << shift)  # float32's last place
    exact = unit * (1 << shift) == 1
    near = above == HALF if rounding is Rounding.NEAREST or exact else abs(above - HALF) <= unit / 2
    return floor % 2 == 1 if near else above > HALF


def values(bits, shifts, rng):
    """(value, shift): around ties as near as float32 tells apart, and anywhere."""
    for _ in range(250):
        shift = rng.choice(shifts)
        if rng.random() < 0.3 or shift == 0:
            yield corner_of(rng, bits), shift
            continue
        whole = corner_of(rng, max(bits - shift, 2))
        tie = whole << shift | 1 << shift - 1
        unit = 1 << max(abs(tie).bit_length() - FLOAT32_BITS, 0)
        value = tie + rng.choice([0, 1, -1, unit // 2, -(unit // 2), unit // 2 + 1, -(unit // 2) - 1, unit])
        yield max(min(value, (1 << bits - 1) - 1), -(1 << bits - 1)), shift


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("pipelined", [True, False])
@pytest.mark.parametrize(
    ("bits", "least", "most", "floor_bits"),
    [(12, 3, 3, 5), (24, 1, 8, 9), (40, 14, 30, 9), (56, 14, 63, 9), (57, 0, 55, 17), (20, 16, 31, 3)],
)
def test_floor_and_direction(rounding, pipelined, bits, least, most, floor_bits):
    block = RoundingShift(rounding, bits, least=least, most=most, floor_bits=floor_bits, pipelined=pipelined)
    rng = random.Random(bits)
    given = list(values(bits, range(least, most + 1), rng))
    stimulus = [{} for _ in range(len(given) + 1 + block.latency)]
    for cycle, (value, shift) in enumerate(given):
        stimulus[cycle]["extra"] = shift - least
        stimulus[cycle + 1]["value"] = value
    shown = trace(block, stimulus)[1 + block.latency :]
    for (value, shift), line in zip(given, shown, strict=True):
        floor = value >> shift
        fits = -(1 << floor_bits - 1) <= floor < 1 << floor_bits - 1
        assert line["beyond"] == (not fits), (value, shift)
        if fits:
            assert (line["floor"], line["up"]) == (floor, rounds_up(rounding, value, shift)), (value, shift)
        else:
            assert line["negative"] == (value < 0), (value, shift)
