"""Two products in a MULT18X18D: operands that just fit, of either sign, trees of any depth, whole and split sums."""

from __future__ import annotations

import pytest

from systoliq.golden import IntFormat

from ..bench import with_models
from .mac_bench import check_macs

INT4 = IntFormat.parse("int4")
WIDEST = [  # a.bits + 2 * b.bits, and a bit more where b is signed: 18 at the most
    *(("int8", "int4"), ("uint8", "int4"), ("int8", "uint5"), ("uint8", "uint5"), ("int9", "int4")),
    *(("uint13", "int2"), ("int14", "uint2"), ("int4", "uint7"), ("uint2", "uint8"), ("int3", "int7")),
]
NARROWER = [("int4", "int4"), ("uint4", "int4"), ("int8", "int2"), ("uint8", "uint2")]


@pytest.mark.parametrize("cells", with_models("ecp5-pair"))
def test_depth_and_width(tmp_path, cells):
    depths = [{"depth": depth, "b": INT4} for depth in (1, 2, 3, 6, 7)]
    widths = [{"depth": depth, "b": INT4, "accumulator_bits": bits} for depth in (1, 3) for bits in (12, 24, 25, 48)]
    check_macs(depths + widths, cells=cells, folder=tmp_path)


@pytest.mark.parametrize("cells", with_models("ecp5-pair"))
@pytest.mark.parametrize("depth", [1, 5])
def test_operands(tmp_path, cells, depth):
    formats = [tuple(map(IntFormat.parse, pair)) for pair in WIDEST + NARROWER]
    check_macs([{"depth": depth, "a": a, "b": b} for a, b in formats], cells=cells, folder=tmp_path)
