"""Plain logic in the shape of a DSP48: a chain of cells, whose pairs of operands come one after the other."""

from __future__ import annotations

from systoliq.golden import INT8, UINT8, IntFormat

from .mac_bench import check_macs


def test_depth_and_accumulator_width():
    check_macs(
        [{"depth": depth, "accumulator_bits": bits} for depth in (1, 2, 3, 8) for bits in (16, 32, 48)], cells="xilinx"
    )


def test_operands():
    many = IntFormat(16, signed=True)
    check_macs([{"depth": 3, "a": a, "b": b} for a in (INT8, UINT8) for b in (UINT8, many)], cells="xilinx")
