"""Small layers of each kind, for the tests of blocks: fields that differ from an int8 layer's, and hardware."""

from __future__ import annotations

import numpy as np

from systoliq.api import MatMulLayer
from systoliq.golden import E4M3FN, E5M2, IntFormat


def layer(k=7, n=5, **fields):
    """An int8 layer, or one with other formats."""
    generator = np.random.default_rng(k)
    given = {
        "name": "fc", "b": generator.integers(-100, 100, (k, n)).astype(np.int8), "b_zero_point": np.int8(0),
        "b_scale": np.float32(0.02), "a_scale": np.float32(0.1), "a_zero_point": np.int8(3),
        "y_scale": np.float32(0.5), "y_zero_point": np.int8(-1),
    }  # fmt: skip
    return MatMulLayer(**{key: value for key, value in (given | fields).items() if value is not None})


SUMS = {"y_scale": None, "y_zero_point": None}
LAYERS = {
    "int8": ({}, {"rows": 2, "cols": 3, "depth": 2}),
    "one row": ({}, {"rows": 1, "cols": 5, "depth": 3}),
    "narrow": ({"a_format": IntFormat(5, signed=False), "a_zero_point": 9}, {"rows": 3, "cols": 2, "depth": 2}),
    "int32 sums": (SUMS, {"rows": 2, "cols": 4, "depth": 1}),
    "zero points of A": (
        SUMS | {"a_scale": None, "b_scale": None, "a_zero_point": None, "a_format": IntFormat.parse("uint8")},
        {"rows": 2, "cols": 2, "depth": 2},
    ),
    "float8": (
        {
            "b": np.arange(35, dtype=np.uint8).reshape(7, 5), "b_format": E5M2, "b_zero_point": 0,
            "a_format": E4M3FN, "a_zero_point": 0, "y_format": E4M3FN, "y_zero_point": 0,
        },
        {"rows": 2, "cols": 3, "depth": 2},
    ),
    "not exact": ({}, {"rows": 1, "cols": 5, "multiplier_bits": 3, "requantizer": "nearest"}),
}  # fmt: skip


def operands(block, count):
    form = block.layer.a_format
    a = np.random.default_rng(count).integers(form.min, form.max, (count, block.layer.k), endpoint=True)
    a = a.astype(np.uint8 if form.dtype.names else form.dtype)
    return a, np.arange(count).astype(form.dtype) if block.layer.takes_zero_points else None
