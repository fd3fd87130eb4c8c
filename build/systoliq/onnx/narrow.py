"""Integers of 4 and 2 bits: numpy types of their own (of `ml_dtypes`) in a model; bytes with a format in a layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import IntFormat

__all__ = ["NARROW_TYPES", "format_of", "in_bytes", "is_integer"]

NARROW_TYPES = ("int4", "uint4", "int2", "uint2")
"""Names in ONNX and in numpy."""


def is_integer(dtype: np.dtype[Any]) -> bool:
    """True if a tensor of this type holds integers, including narrow ones."""
    return dtype.kind in "iu" or dtype.name in NARROW_TYPES


def format_of(dtype: np.dtype[Any]) -> IntFormat:
    """The format of a type of integers."""
    return IntFormat.parse(dtype.name) if dtype.name in NARROW_TYPES else IntFormat.of(dtype)


def in_bytes(fields: dict[str, Any]) -> dict[str, Any]:
    """A layer's fields with narrow integers in bytes, and the formats of the operands that have them."""
    formats = {}
    for operand in ("a", "b", "y"):
        zero_point: npt.NDArray[Any] | None = fields.get(f"{operand}_zero_point")  # y has none where it is sums
        if zero_point is not None and zero_point.dtype.name in NARROW_TYPES:
            formats[f"{operand}_format"] = format_of(zero_point.dtype)
    return {name: _widened(value) for name, value in fields.items()} | formats


def _widened(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype.name not in NARROW_TYPES:
        return value
    return value.astype(format_of(value.dtype).dtype)
