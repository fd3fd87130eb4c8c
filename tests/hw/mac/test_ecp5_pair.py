"""Two products in a MULT18X18D, side by side or overlapping: operands that just fit, of either sign, at any depth."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, UINT8, IntFormat

from ..bench import with_models
from .mac_bench import check_macs

INT4 = IntFormat.parse("int4")
NARROW = [  # a.bits + 2 * b.bits, and a bit more where b is signed: 18 at the most
    *(("int8", "int4"), ("uint8", "int4"), ("int8", "uint5"), ("uint8", "uint5"), ("int9", "int4")),
    *(("uint13", "int2"), ("int14", "uint2"), ("int4", "uint7"), ("uint2", "uint8"), ("int3", "int7")),
    *(("int4", "int4"), ("uint4", "int4"), ("int8", "int2"), ("uint8", "uint2")),
]
OVERLAPPING = [  # by 1 to 8 bits
    *(("int8", "int5"), ("uint8", "int5"), ("int8", "uint6"), ("int4", "int7"), ("uint2", "int8"), ("int2", "uint9")),
    *(("int8", "int6"), ("int7", "uint7"), ("int4", "int8"), ("int8", "uint7"), ("int5", "int9"), ("int14", "int4")),
    *(
        ("uint9", "int8"),
        ("int8", "int9"),
        ("uint10", "uint8"),
        ("int9", "uint8"),
        ("int16", "int5"),
        ("uint16", "uint5"),
    ),
]
BYTES = [(a, b) for a in (INT8, UINT8) for b in (INT8, UINT8)]


@pytest.mark.parametrize("cells", with_models("ecp5-pair"))
def test_depth_and_width(tmp_path, cells):
    depths = [{"depth": depth, "b": INT4} for depth in (2, 6, 7)]
    sizes = [(1, 12), (1, 25), (3, 24), (3, 48)]
    widths = [{"depth": depth, "b": INT4, "accumulator_bits": bits} for depth, bits in sizes]
    large = [{"rows": 4, "cols": 4, "b": INT4}, {"rows": 2, "cols": 4, "depth": 4, "b": INT4}]
    check_macs(depths + widths + large, cells=cells, folder=tmp_path)


@pytest.mark.slow  # `systoliq prove` has int3 by int3 for all data
@pytest.mark.parametrize("cells", with_models("ecp5-pair"))
@pytest.mark.parametrize("depth", [1, 5])
def test_narrow_operands(tmp_path, cells, depth):
    formats = [tuple(map(IntFormat.parse, pair)) for pair in NARROW]
    check_macs([{"depth": depth, "a": a, "b": b} for a, b in formats], cells=cells, folder=tmp_path)


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cells", with_models("ecp5-pair"))
def test_overlapping_operands(tmp_path, cells, part):
    """Every second pair of formats, among them each of two signs; the others are slow."""
    formats = [tuple(map(IntFormat.parse, pair)) for pair in OVERLAPPING[part::2]]
    depths = [{"depth": 1 + i % 3, "a": a, "b": b} for i, (a, b) in enumerate(formats)]
    check_macs(depths, cells=cells, folder=tmp_path)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("cells", with_models("ecp5-pair"))
@pytest.mark.parametrize(("a", "b"), BYTES)
def test_bytes(tmp_path, cells, a, b):
    sizes = [(1, 17), (2, 24), (3, 32), (5, 48)]
    variants = [{"depth": depth, "a": a, "b": b, "accumulator_bits": bits} for depth, bits in sizes]
    large = [{"rows": 8, "cols": 8, "a": a, "b": b}, {"rows": 2, "cols": 8, "depth": 4, "a": a, "b": b}]
    check_macs(variants + large, cells=cells, folder=tmp_path)
