"""The form of plain logic: whole and split accumulators, and that sums wrap."""

from __future__ import annotations

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.hw.mac.fabric import WHOLE_BITS

from .mac_bench import check_macs


def test_depth():
    check_macs([{"depth": depth} for depth in (1, 2, 3, 7, 8)])


def test_accumulator_width():
    widths = (16, 17, WHOLE_BITS, WHOLE_BITS + 1, 31, 48)
    check_macs([{"depth": 3, "accumulator_bits": bits} for bits in widths])


def test_operands():
    few, many = IntFormat(2, signed=True), IntFormat(16, signed=False)
    pairs = [(a, b) for a in (INT8, UINT8, few, many) for b in (INT8, UINT8, many)]
    check_macs([{"depth": 2, "a": a, "b": b, "accumulator_bits": 40} for a, b in pairs])
