"""Rounding to integers: fields, fractions, signs and zero points, against Python's exact rounding; flags prevail."""

from __future__ import annotations

from fractions import Fraction

import pytest

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.hw.integer_rounding import IntegerRounding

from .bench import trace

NEAR = Fraction(1, 1 << 30)  # what "more" stands for
INT4, UINT16 = IntFormat(4, signed=True), IntFormat(16, signed=False)
POINTS = [(INT8, -128), (INT8, 5), (INT8, 127), (UINT8, 0), (UINT8, 255), (INT4, -3), (UINT16, 40000)]


def saturated(output, number):
    return min(max(number, output.min), output.max)


def answers(output, zero_point, lines, flag_bits):
    dut = IntegerRounding(output, field_bits=8, flag_bits=flag_bits)
    inputs = [{"zero_point": zero_point, **line} for line in lines]
    shown = trace(dut, inputs + inputs[-1:] * dut.LATENCY)[dut.LATENCY :]
    return [line["code"] for line in shown]


@pytest.mark.sampled(99)
@pytest.mark.parametrize(("output", "zero_point"), POINTS, ids=str)
def test_every_number_becomes_the_nearest_integer(output, zero_point):
    bits, bias = output.bits + 1, IntegerRounding.bias_of(output)
    step = 1 << max(bits - 8, 0)  # of fractions, the ends and their neighbours always
    near = (-1, 0, 1, step // 2)
    fractions = sorted({(part + at) % (1 << bits) for part in range(0, 1 << bits, step) for at in near})
    lines, expected = [], []
    for field in (-60, *range(-output.bits - 4, 3), 60):
        for fraction in fractions:
            more, negative = (field + fraction) % 3 == 0, fraction // 2 % 2
            lines.append({"field": field, "fraction": fraction, "more": int(more), "negative": negative})
            number = (1 + Fraction(fraction, 1 << bits) + more * NEAR) * Fraction(2) ** (field - bias)
            expected.append(saturated(output, round(-number if negative else number) + zero_point))
    assert len(set(expected)) > min(200, 1 << output.bits - 1)
    assert answers(output, zero_point, lines, 0) == expected


@pytest.mark.parametrize(("output", "zero_point"), POINTS, ids=str)
def test_flags_and_zero_prevail(output, zero_point):
    number = {"field": -2, "fraction": 5, "more": 1, "negative": 1}
    lines = [{**number, "flags": flags, "zero": zero} for zero in (0, 1) for flags in range(4)]
    ends = [output.max, output.min, output.min]
    found = answers(output, zero_point, lines, 2)
    assert found[1:4] == found[5:] == ends
    assert found[4] == zero_point
    assert answers(output, zero_point, [{**number, "flags": 1}], 1) == [output.min]
