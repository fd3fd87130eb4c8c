"""Products in lookup tables and carry chains of ECP5: operands of every width and sign, whole and split sums."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

FORMATS = ["int2", "uint2", "int3", "uint3", "int7", "uint7", "int8", "uint8", "int16", "uint16"]


@pytest.mark.parametrize("cells", with_models("ecp5-lut"))
def test_depth_and_width(tmp_path, cells):
    depths = [{"depth": depth} for depth in (2, 5)]
    widths = [{"depth": depth, "accumulator_bits": bits} for depth, bits in ((1, 16), (1, 25), (3, 24), (3, 48))]
    check_macs(depths + widths, cells=cells, folder=tmp_path)


@pytest.mark.parametrize("cells", with_models("ecp5-lut"))
def test_operands(tmp_path, cells):
    """A of either sign beside B of every width and sign."""
    pairs = [((INT8, UINT8)[index // 2 % 2], IntFormat.parse(b)) for index, b in enumerate(FORMATS)]
    pairs += [(UINT8, INT8), (INT8, UINT8)]
    check_macs([{"a": a, "b": b, "accumulator_bits": 40} for a, b in pairs], cells=cells, folder=tmp_path)
