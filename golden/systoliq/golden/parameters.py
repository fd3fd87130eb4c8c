"""Scales and zero points: the types and shapes that a parameter can have, and its alignment with its operand.

    a_*   one element; [M] for a 2-D a; a.shape[:-1] + (1,) for any a     (per row)
    b_*   one element; [N] for a 2-D b; b.shape[:-2] + (1, N) for any b   (per column)
    y_*   one element

[M] means rows even if M == K. A scale and a zero point of the same operand can differ in shape.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .float8 import FLOAT8, Float8Format

_SCALE_TYPES = ("float32", "float16", "bfloat16")  # bfloat16 by name: ml_dtypes is not imported here


def as_operand(name: str, value: npt.ArrayLike, *, float8: bool = False) -> npt.NDArray[Any]:
    """Return `value` as an array of int8 or uint8, or of a float8 type if `float8` allows it; TypeError names it."""
    array = np.asarray(value)
    is_float8 = Float8Format.of(array.dtype) is not None
    if is_float8 and not float8:
        raise TypeError(
            f"{name} must be int8 or uint8, not {type_name(array.dtype)}: float8 is for golden's qlinear_matmul, "
            "and for engines of float8"
        )
    if not is_float8 and array.dtype.name not in ("int8", "uint8"):
        allowed = f"int8, uint8 or one of {', '.join(form.name for form in FLOAT8)}" if float8 else "int8 or uint8"
        raise TypeError(f"{name} must be {allowed}, not {type_name(array.dtype)}")
    return array


def as_zero_point(name: str, value: npt.ArrayLike, dtype: np.dtype[Any], operand: str) -> npt.NDArray[Any]:
    """Return `value` as an array of its operand's `dtype`; TypeError names both. A float8 zero point must be 0."""
    array = np.asarray(value)
    if type_name(array.dtype) != type_name(dtype):
        raise TypeError(f"{name} must be {type_name(dtype)} as {operand} is, not {type_name(array.dtype)}")
    return float8_zero(name, array)


def float8_zero(name: str, zero_point: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `zero_point`; raise ValueError that names it if it is a float8 other than 0 (-0 counts as 0)."""
    form = Float8Format.of(zero_point.dtype)
    if form is not None:
        codes = form.codes(zero_point).reshape(-1)
        decoded = form.decode(codes)
        wrong = (decoded.significand != 0) | decoded.nan | (decoded.infinity != 0)
        if wrong.any():
            raise ValueError(f"{name} must be 0, as it is {form.name}, not the code {int(codes[wrong][0]):#04x}")
    return zero_point


def type_name(dtype: np.dtype[Any]) -> str:
    """The name of `dtype`; for a float8 type, the name of its format."""
    form = Float8Format.of(dtype)
    return dtype.name if form is None else form.name


def as_scale(name: str, value: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """`value` (float32, float16, bfloat16, or a Python float) rounded to float32, or a TypeError naming it."""
    array = np.asarray(value)
    if type(value) is not float and array.dtype.name not in _SCALE_TYPES:
        raise TypeError(f"{name} must be float32, float16 or bfloat16, not {array.dtype.name}")
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def along(
    axis: Literal["row", "column"], name: str, parameter: npt.NDArray[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Return `parameter`, reshaped to broadcast along the rows of a, or the columns of b, whose shape is `shape`.

    A 1-D operand counts as the one row, or the one column, that it is promoted to. Raises ValueError that names both if
    the shapes do not match.
    """
    if parameter.size == 1:
        return parameter.reshape(())
    allowed = ["a scalar"]
    if len(shape) >= 2:
        vector, full = (shape[-2:-1], (*shape[:-1], 1)) if axis == "row" else (shape[-1:], (*shape[:-2], 1, shape[-1]))
        if parameter.shape == full or (len(shape) == 2 and parameter.shape == vector):
            return parameter.reshape(full)
        allowed += [f"{list(vector)}"] if len(shape) == 2 else []
        allowed += [f"{list(full)} (per {axis})"]
    raise ValueError(
        f"{name} must be {' or '.join(allowed)} for {'a' if axis == 'row' else 'b'} of shape {list(shape)}, "
        f"not of shape {list(parameter.shape)}"
    )


def one_element(name: str, parameter: npt.NDArray[Any]) -> Any:
    """The one element of `parameter`, or a ValueError naming it."""
    if parameter.size != 1:
        raise ValueError(f"{name} must be a scalar or have one element, not shape {list(parameter.shape)}")
    return parameter.reshape(())[()]


def check_positive(name: str, scale: npt.NDArray[np.float32]) -> None:
    """Raise ValueError if an element of `scale` is not positive and finite."""
    wrong = scale[~(np.isfinite(scale) & (scale > 0))]
    if wrong.size:
        raise ValueError(f"{name} must be positive and finite, not {float(wrong[0])!r}")


def check_finite(name: str, scale: npt.NDArray[np.float32]) -> None:
    """Raise ValueError if an element of `scale`, one per column, is not finite."""
    wrong = np.flatnonzero(~np.isfinite(scale))
    if wrong.size:
        raise ValueError(f"{name} must be finite in float32, not {float(scale[wrong[0]])!r} (column {int(wrong[0])})")


def in_short(value: npt.ArrayLike | None) -> str:
    """Return a scale or zero point as text for a table: the range, if each column has its own."""
    if value is None:
        return ""
    array = np.asarray(value)
    if array.size == 1 or (array == array.flat[0]).all():
        return f"{array.flat[0]}"
    return f"{array.min()} to {array.max()}, {array.size} values"
