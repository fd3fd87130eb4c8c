"""Operands of a layer: integers or float8 codes, checked against their format."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .float8 import Float8Format
from .formats import IntFormat
from .parameters import float8_zero, type_name

Format = IntFormat | Float8Format


def as_layer_operand(name: str, value: npt.ArrayLike, fmt: Format | None) -> tuple[npt.NDArray[Any], Format]:
    """Return `value` in `fmt` (default: the format that fills its type), with that format; float8 as codes in uint8."""
    found = fmt or Float8Format.of(np.asarray(value).dtype)
    if isinstance(found, Float8Format):
        return _codes(name, value, found), found
    if found is not None and not isinstance(found, IntFormat):
        raise TypeError(f"the format of {name} must be an IntFormat, a Float8Format or None, not {fmt!r}")
    return _integers(name, value, found)


def as_layer_zero_point(name: str, value: npt.ArrayLike, fmt: Format | None) -> tuple[npt.NDArray[Any], Format]:
    """Like `as_layer_operand`; a zero point of float8 must be 0, and -0 is returned as 0."""
    zero_point, fmt = as_layer_operand(name, value, fmt)
    if isinstance(fmt, Float8Format):
        zero_point = np.zeros_like(float8_zero(name, zero_point.view(fmt.dtype)), np.uint8)
    return zero_point, fmt


def integer_format(name: str, fmt: Format) -> IntFormat:
    """Return `fmt`, or raise TypeError if it is float8, which cannot be used here."""
    if not isinstance(fmt, IntFormat):
        raise TypeError(f"{name} must be a format of integers here, not {fmt}: use systoliq.hw.Dense for float8")
    return fmt


def _codes(name: str, value: npt.ArrayLike, fmt: Float8Format) -> npt.NDArray[np.uint8]:
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype == np.int64 and not array.any():  # a plain 0
        array = np.zeros((), np.uint8)
    if array.dtype != np.uint8 and Float8Format.of(array.dtype) != fmt:
        raise TypeError(f"{name} must have the type {fmt.name}, or be its codes as uint8, not {type_name(array.dtype)}")
    return fmt.codes(array)


def _integers(name: str, value: npt.ArrayLike, fmt: IntFormat | None) -> tuple[npt.NDArray[Any], IntFormat]:
    array = np.asarray(value)
    if fmt is None:
        if array.dtype.name not in ("int8", "uint8", "int16", "uint16"):
            raise TypeError(f"{name} must be an array of int8, uint8, int16, uint16 or float8, not {kind(value)}")
        return array, IntFormat.of(array.dtype)
    if fmt.bits > 16:
        raise ValueError(f"the format of {name} must have at most 16 bits, not {fmt.bits!r}")
    if type(value) is not int and array.dtype != fmt.dtype:
        raise TypeError(f"{name} must have the type {fmt.type_name}, not {kind(value)}")
    outside = fmt.first_outside(array)
    if outside:
        index, found = outside
        place = f"{name}{list(index)}" if index else name
        raise ValueError(f"{place} must be in {fmt.name}, {fmt.min} to {fmt.max}, not {found}")
    return array.astype(fmt.dtype), fmt


def kind(value: npt.ArrayLike) -> str:
    """A description of the type of `value`, for error messages."""
    return value.dtype.name if isinstance(value, (np.ndarray, np.generic)) else repr(value)
