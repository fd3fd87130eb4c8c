"""ECP5's adder beside the multipliers: as the accumulator of one and two products, for pairs of more."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

PAIRS = [(UINT8, INT8), (UINT8, UINT8), (IntFormat(16, signed=True), IntFormat(12, signed=False))]


@pytest.mark.parametrize("cells", with_models("ecp5-alu"))
def test_depth_width_and_operands(tmp_path, cells):
    depths = [{"depth": depth} for depth in (2, 4, 7)]
    widths = [{"depth": depth, "accumulator_bits": bits} for depth, bits in ((1, 16), (1, 48), (3, 24), (3, 32))]
    operands = [{"depth": depth, "a": a, "b": b, "accumulator_bits": 40} for depth in (1, 4) for a, b in PAIRS]
    check_macs(depths + widths + operands, cells=cells, folder=tmp_path)
