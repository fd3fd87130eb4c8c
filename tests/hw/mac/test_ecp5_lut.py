"""Products in lookup tables and carry chains of ECP5: operands of every width and sign, whole and split sums."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

FORMATS = ["int2", "uint2", "int3", "uint3", "int7", "uint7", "int8", "uint8", "int16", "uint16"]


@pytest.mark.parametrize("cells", with_models("ecp5-lut"))
def test_depth_and_width(tmp_path, cells):
    depths = [{"depth": depth} for depth in (1, 2, 3, 5)]
    widths = [{"depth": depth, "accumulator_bits": bits} for depth in (1, 3) for bits in (16, 24, 25, 48)]
    check_macs(depths + widths, cells=cells, folder=tmp_path)


@pytest.mark.parametrize("cells", with_models("ecp5-lut"))
def test_operands(tmp_path, cells):
    pairs = [(a, b) for a in (INT8, UINT8) for b in map(IntFormat.parse, FORMATS)]
    check_macs([{"a": a, "b": b, "accumulator_bits": 40} for a, b in pairs], cells=cells, folder=tmp_path)
