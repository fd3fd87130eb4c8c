"""Operands of a layer as users give them: integers, or real numbers that are quantized here, in any batch of rows.

A layer whose zero points come with A takes `a` with `a_zero_point`. If the host's part says how real numbers are
quantized, `a` may hold these alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.parameters import along, type_name

from ...errors import InputError
from ...onnx.host import DYNAMIC, STATIC, HostPart
from ..design import Arrays
from ..operands import read_operand_file

__all__ = ["Rows", "are_real", "read_layer_operands", "rows_of"]

_NAMES = ("a", "y", "x")  # of A in an archive: its own, the output of a layer before, real numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """A as [M, K], its zero points [M, 1] where they come with it, and the shape [...] that its rows were given in.

    `a_scale` is the scale of real numbers that were quantized at run time.
    """

    a: npt.NDArray[Any]
    a_zero_point: npt.NDArray[Any] | None
    shape: tuple[int, ...]
    a_scale: np.float32 | None = None

    def restore(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """`y` [M, N] as [..., N]."""
        return y.reshape(*self.shape, y.shape[-1])


def are_real(a: npt.ArrayLike | None) -> bool:
    """True if `a` holds real numbers, which the host quantizes."""
    return np.asarray(a).dtype.kind == "f"


def rows_of(
    layer: MatMulLayer, host: HostPart | None, a: npt.ArrayLike | None, a_zero_point: npt.ArrayLike | None = None
) -> Rows:
    """`a` [..., K] row by row, with `a_zero_point`: one, [M] where a is [M, K], or [..., 1]; or real numbers alone."""
    if a is None:
        raise InputError("a must be given, with a_zero_point where the layer has none")
    array, a_scale = np.asarray(a), None
    if array.ndim < 2 or not array.size or array.shape[-1] != layer.k:
        raise InputError(f"a must have the shape [M, {layer.k}] with M at least 1, not {list(array.shape)}")
    shape = array.shape[:-1]
    if are_real(array) and (layer.takes_zero_points or (host is not None and host.before is not None)):
        if a_zero_point is not None:
            raise InputError("a_zero_point cannot be given with real numbers in a: it is computed from them")
        quantized = (host or HostPart(before=None, real=False)).quantize(layer, array)
        array, a_zero_point, a_scale = quantized.a, quantized.zero_point, quantized.scale
    elif np.ndim(given := np.asarray(a_zero_point)) > 0:
        a_zero_point = np.broadcast_to(along("row", "a_zero_point", given, array.shape), (*shape, 1)).reshape(-1)
    rows = layer.check_input(array.reshape(-1, layer.k))
    if not layer.takes_zero_points and a_zero_point is None:
        return Rows(a=rows, a_zero_point=None, shape=shape, a_scale=a_scale)
    zero_points = layer.zero_points(rows, a_zero_point).astype(layer.a_format.dtype)
    return Rows(a=rows, a_zero_point=zero_points, shape=shape, a_scale=a_scale)


def read_layer_operands(layer: MatMulLayer, host: HostPart | None, path: Path, *, quantize: bool) -> Arrays:
    """`a` [..., K] from an .npz archive, or from a .npy file; without `a`, `y`, the output of a previous layer.

    With it comes `a_zero_point`, where the layer has none. With `quantize` the numbers are real: see
    `MatMulLayer.quantize`. If `host` says how they are quantized, `a` stays real.
    """
    arrays = read_operand_file(path)
    a = next((arrays[name] for name in _NAMES if name in arrays), None)
    if a is None:
        raise InputError(
            f"{path}: must have the key 'a' (or 'y', of the layer before); it has {', '.join(arrays) or 'none'}"
        )
    before = None if host is None else host.before
    dynamic = before == DYNAMIC
    try:
        if a.dtype.kind == "f" and (dynamic or (quantize and before == STATIC)):
            operands = {"a": _single(a)}
        else:
            operands = {"a": _integers(layer, a, quantize=quantize)}
        if layer.takes_zero_points and not are_real(operands["a"]):
            if "a_zero_point" not in arrays:
                real = ", or a hold real numbers" if dynamic else ""
                raise InputError(f"a_zero_point must be given with a, one for all rows or one for each{real}")
            operands["a_zero_point"] = arrays["a_zero_point"]
        rows_of(layer, host, **operands)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from error
    return operands


def _integers(layer: MatMulLayer, a: npt.NDArray[Any], *, quantize: bool) -> npt.NDArray[Any]:
    """`a`, by the layer's own scale where it holds real numbers and that was asked for."""
    if a.dtype.kind != "f":
        if quantize:
            raise InputError(f"a must hold real numbers where quantize is given, not {type_name(a.dtype)}")
        return a
    if not quantize:
        expected = layer.a_format.type_name
        raise InputError(f"a must have the type {expected}, not {a.dtype.name}: --quantize takes real numbers")
    return layer.quantize(a)


def _single(x: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):  # infinity is refused later
        return x.astype(np.float32)
