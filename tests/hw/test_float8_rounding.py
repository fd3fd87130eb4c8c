"""Rounding to float8: every field, fraction and sign, against the nearest code by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import E5M2, FLOAT8
from systoliq.hw.float8_rounding import Float8Rounding

from .bench import trace

NEAR = Fraction(1, 1 << 20)  # what "more" stands for


def values(output):
    """The positive numbers of the format, in the order of their codes."""
    decoded = output.decode(np.arange(output.max_code + 1).astype(np.uint8))
    unit = Fraction(2) ** output.unit
    return [int(digits) << int(shift) for digits, shift in zip(decoded.significand, decoded.shift, strict=True)], unit


def nearest(output, number):
    """The code nearest to a positive number, half to the even one, at most the greatest."""
    numbers, unit = values(output)
    distances = [(abs(number / unit - value), code % 2, code) for code, value in enumerate(numbers)]
    return min(distances)[2]


@pytest.mark.parametrize("output", FLOAT8, ids=str)
def test_every_number_becomes_the_nearest_code(output):
    bits = output.mantissa_bits + 1
    most = (output.max_code >> output.mantissa_bits) + 2
    lines, expected = [], []
    for field in (-60, *range(-output.mantissa_bits - 3, 5), most // 2, most - 3, most - 2, most - 1, most, 60):
        for fraction in range(1 << bits):
            for more in (0, 1):
                negative = (field + fraction) % 2
                lines.append({"field": field, "fraction": fraction, "more": more, "negative": negative})
                number = (1 + Fraction(fraction, 1 << bits) + more * NEAR) * Fraction(2) ** (field - output.bias)
                code = nearest(output, number)
                expected.append(code | (0x80 if negative and (code or not output.fnuz) else 0))
    dut = Float8Rounding(output, field_bits=8, flag_bits=1)
    shown = trace(dut, lines + [{}] * dut.LATENCY)[dut.LATENCY :]
    for line, found, code in zip(lines, shown, expected, strict=True):
        assert found["code"] == code, line


def test_flags_and_zero_prevail():
    dut = Float8Rounding(E5M2, field_bits=6, flag_bits=2)
    number = {"field": 20, "fraction": 5, "more": 1, "negative": 1}
    lines = [{**number, "flags": flags, "zero": zero} for zero in (0, 1) for flags in range(4)]
    shown = trace(dut, lines + [{}] * dut.LATENCY)[dut.LATENCY :]
    most, sign = E5M2.max_code, 0x80
    assert [line["code"] for line in shown][1:4] == [most, most | sign, E5M2.nan_code]
    assert [line["code"] for line in shown][4:] == [0, most, most | sign, E5M2.nan_code]
