"""Multipliers and carry chains of Gowin: whole and split accumulators."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

PAIRS = [(UINT8, INT8), (UINT8, UINT8), (IntFormat(16, signed=True), IntFormat(12, signed=False))]


@pytest.mark.parametrize("cells", with_models("gowin"))
def test_depth_width_and_operands(tmp_path, cells):
    depths = [{"depth": depth} for depth in (1, 2, 3, 5)]
    widths = [{"depth": depth, "accumulator_bits": bits} for depth in (1, 3) for bits in (16, 32, 33, 48)]
    operands = [{"depth": depth, "a": a, "b": b, "accumulator_bits": 40} for depth in (1, 4) for a, b in PAIRS]
    check_macs(depths + widths + operands, cells=cells, folder=tmp_path)
