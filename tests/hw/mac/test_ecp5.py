"""Multipliers and carry chains of ECP5: whole and split accumulators."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

PAIRS = [(UINT8, INT8), (UINT8, UINT8), (IntFormat(16, signed=True), IntFormat(12, signed=False))]


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_depth_width_and_operands(tmp_path, cells):
    depths = [{"depth": depth} for depth in (2, 5)]
    widths = [{"depth": depth, "accumulator_bits": bits} for depth, bits in ((1, 16), (1, 25), (3, 24), (3, 48))]
    operands = [{"depth": depth, "a": a, "b": b, "accumulator_bits": 40} for depth in (1, 4) for a, b in PAIRS]
    large = [{"rows": rows, "cols": 64 // rows // depth, "depth": depth} for rows, depth in ((8, 1), (2, 4))]
    check_macs(depths + widths + operands + large, cells=cells, folder=tmp_path)
