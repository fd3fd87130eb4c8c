"""Requantizer with float8: golden's results for sums of all sizes, ties and their neighbours, and what is no number."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8, INT8, UINT8, IntFormat, sum_bits
from systoliq.golden.float8_matmul import Sums
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.wide import Wide
from systoliq.hw import ArrayConfig
from systoliq.hw.float8_requantizer import Float8Requantizer, Float8RequantizerConfig, exponents_of

from .bench import trace, with_models

SCALES = np.float32([1, 1.5, 0.3, 1.9999999, 2.0**-20, 2.0**-149, 3e38])


def sums_near_ties(config, requantization, column, rng):
    """Sums whose product with a column's scale lies at a tie, or next to one, where sums come so close."""
    output = requantization.output
    scale = Fraction(float(requantization.scale[column])) * Fraction(2) ** config.unit
    most = output.max if isinstance(output, IntFormat) else output.max_code
    codes = rng.integers(0, most, 12)
    values = [value(output, int(code)) for code in (*codes, 0, 1, most - 1, most)]
    found = []
    for low, high in itertools.pairwise(sorted(values)):
        middle = (low + high) / 2 / scale
        found += [int(middle) + step for step in (-1, 0, 1, 2)]
    low, high = values[-2:]
    found += [int((high + (high - low) * part) / scale) for part in (Fraction(1, 4), Fraction(1, 2), 1)]
    return found


def value(form, code):
    if isinstance(form, IntFormat):
        return Fraction(code)
    decoded = form.decode(np.uint8([code]))
    return Fraction(int(decoded.significand[0]) << int(decoded.shift[0])) * Fraction(2) ** form.unit


def stimulus(config, requantization, rng, count):
    """(sum, flags, column): of all sizes, near ties, the extremes, flagged ones."""
    half = 1 << config.accumulator_bits - 1
    columns = range(len(requantization.exponent))
    sums = [(number, column) for number in (0, 1, -1, half - 1, -half, 1 - half) for column in columns]
    sums += [(number, column) for column in columns for number in sums_near_ties(config, requantization, column, rng)]
    for _ in range(count):
        sums.append(
            (int(rng.integers(1, 1 << 62)) * (half >> 40) >> int(rng.integers(0, 62)), int(rng.choice(columns)))
        )
    for number, column in sums:
        signed = number * int(rng.choice([1, -1]))
        flags = 0 if rng.random() < 0.9 else int(rng.integers(0, 1 << config.flag_bits))
        yield min(max(signed, -half), half - 1), flags, column


def expected(config, requantization, lines):
    """Golden's codes; sums come as terms of 60 bits."""
    numbers = [number for number, _, _ in lines]
    terms = [(np.array([(abs(number) >> at) & ((1 << 30) - 1) for number in numbers], np.int64), at) for at in (0, 30)]
    high = np.array([abs(number) >> 60 for number in numbers], np.int64)
    terms.append((high << 28, 32))
    wide = Wide.of_sums(terms, config.unit)
    negative = np.array([number < 0 for number in numbers])
    flags = np.array([flag if config.flag_bits != 1 else 3 * flag for _, flag, _ in lines])
    infinity = np.where(flags == 1, 1, np.where(flags == 2, -1, 0)).astype(np.int8)
    columns = [column for _, _, column in lines]
    picked = requantization.replace(
        multiplier=tuple(requantization.multiplier[column] for column in columns),
        exponent=tuple(requantization.exponent[column] for column in columns),
    )
    y = picked.apply(Sums(Wide(negative, wide.limbs, wide.exponent), flags == 3, infinity))
    return y if isinstance(picked.output, IntFormat) else y.view(np.uint8)


def check(a, b, output, k, *, zero_point=0, cells="portable", folder=None, count=150):
    config = ArrayConfig(a=a, b=b, accumulator_bits=sum_bits(a, b, k), cells=cells)
    requantization = Float8Requantization.from_scales(SCALES, output, zero_point)
    rng = np.random.default_rng(k)
    lines = list(stimulus(config, requantization, rng, count))
    block = Float8Requantizer(Float8RequantizerConfig.of(requantization, config))
    exponents = exponents_of(requantization, config)
    zero_points = {"zero_point": zero_point} if isinstance(output, IntFormat) else {}
    inputs = [
        {
            "acc": (number % (1 << config.accumulator_bits)) + (flags << config.accumulator_bits),
            "multiplier": requantization.multiplier[column],
            "exponent": exponents[column],
            **zero_points,
        }
        for number, flags, column in lines
    ]
    shown = trace(block, inputs + [zero_points] * block.latency, cells=cells, folder=folder)
    found = np.array([line["y"] for line in shown[block.latency :]])
    wanted = expected(config, requantization, lines)
    wrong = np.flatnonzero(found != wanted)
    assert not wrong.size, [(lines[i], hex(found[i]), hex(wanted[i])) for i in wrong[:5]]


@pytest.mark.parametrize("output", FLOAT8, ids=str)
@pytest.mark.parametrize(("a", "b", "k"), [(E4M3FN, E4M3FNUZ, 64), (E4M3FN, E5M2FNUZ, 1), (E5M2, E5M2, 4096)])
def test_every_result_is_golden(a, b, k, output):
    check(a, b, output, k)


@pytest.mark.parametrize(
    ("output", "zero_point"),
    [(INT8, -128), (UINT8, 3), (IntFormat(2, signed=True), 0), (IntFormat(16, signed=False), 40000)], ids=str,
)  # fmt: skip
@pytest.mark.parametrize(("a", "b"), [(E4M3FN, E4M3FNUZ), (UINT8, E5M2)], ids=str)
def test_every_integer_is_golden(a, b, output, zero_point):
    check(a, b, output, 100, zero_point=zero_point)


def test_sums_of_integers_have_no_flags():
    check(INT8, UINT8, E4M3FN, 64)


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_cells(tmp_path, cells):
    check(E5M2, E4M3FN, E5M2, 100, cells=cells, folder=tmp_path)
