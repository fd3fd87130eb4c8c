"""Products and accumulators in cells of Lattice Nexus: one cell, several, and forms that leave products to Yosys."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

PAIRS = [(UINT8, INT8), (UINT8, UINT8), (IntFormat(9, signed=True), IntFormat(2, signed=False))]
WIDE = (IntFormat(16, signed=True), IntFormat(12, signed=False))


@pytest.mark.parametrize("cells", with_models("nexus"))
def test_depth_width_and_operands(tmp_path, cells):
    depths = [{"depth": depth} for depth in (1, 2, 3, 4, 5, 8, 9)]
    widths = [{"depth": depth, "accumulator_bits": bits} for depth in (1, 4, 6) for bits in (16, 32, 48)]
    operands = [{"depth": 4, "a": a, "b": b, "accumulator_bits": 40} for a, b in (*PAIRS, WIDE)]
    check_macs(depths + widths + operands, cells=cells, folder=tmp_path)
