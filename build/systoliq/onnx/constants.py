"""Constants of a model as arrays, each as large as its dimensions and its data both say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import FLOAT8, Float8Format
from systoliq.golden.parameters import float8_zero

from ..errors import InputError
from .library import library
from .narrow import NARROW_TYPES, format_of, is_integer
from .node import NotTakenError, channel_axis, check_elements, check_saturates, label

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["NUMBERS", "constant_of", "constant_of_node", "dequantized_constant", "quantized_constant"]

NUMBERS = "integers of 2, 4, 8 or 16 bits, one of the four float8 types or float32"

# What constants may be; other types (float4, double, ...) are refused by name.
_FLOAT8_TYPES = tuple(form.name.replace("_", "") for form in FLOAT8)  # as ONNX spells them
_INTEGERS = (*NARROW_TYPES, "int8", "uint8", "int16", "uint16", "int32", "int64")
_BITS = {name: int(name.removeprefix("u").removeprefix("int")) for name in _INTEGERS}
_BITS |= dict.fromkeys(_FLOAT8_TYPES, 8) | {"bool": 8, "float": 32, "float16": 16, "bfloat16": 16}


def constant_of(tensor: TensorProto, role: str, folder: Path) -> npt.NDArray[Any]:
    """The array that `tensor` holds; data outside the model lie in `folder`. `role` describes it in errors."""
    from onnx import TensorProto, numpy_helper

    try:
        kind = TensorProto.DataType.Name(tensor.data_type).lower()
    except ValueError:
        kind = f"the unknown type {tensor.data_type}"
    if kind not in _BITS:
        raise NotTakenError(f"{role} must be of {NUMBERS}, not of {kind}")
    count = check_elements(f"{role}: {tensor.name!r}", tensor.dims)
    try:
        with library(f"{role}: the data of {tensor.name!r} cannot be read"):
            _check_size(tensor, -(-count * _BITS[kind] // 8), folder)
            return np.asarray(numpy_helper.to_array(tensor, str(folder)))
    except InputError as error:
        raise NotTakenError(str(error)) from error


def _check_size(tensor: TensorProto, size: int, folder: Path) -> None:
    """A ValueError where raw data, in the model or outside, have not `size` bytes; the library checks the others."""
    from onnx import TensorProto

    if tensor.data_location == TensorProto.EXTERNAL:
        said = {entry.key: entry.value for entry in tensor.external_data}
        place = folder / said.get("location", "")
        if not place.is_file():
            raise ValueError(f"there is no regular file {place}")
        found = int(said["length"]) if said.get("length") else place.stat().st_size - int(said.get("offset") or 0)
    elif tensor.HasField("raw_data"):
        found = len(tensor.raw_data)
    else:
        return
    if found != size:
        raise ValueError(f"{size} bytes are needed for the shape {list(tensor.dims)}, not {found}")


def constant_of_node(node: NodeProto, role: str, folder: Path) -> npt.NDArray[Any]:
    """The array of the Constant `node`."""
    from onnx import AttributeProto, helper

    if len(node.attribute) != 1:
        raise NotTakenError(f"{role}: {label(node)} must have one value, not {len(node.attribute)}")
    given = node.attribute[0]
    if given.name == "value" and given.type == AttributeProto.TENSOR:
        return constant_of(given.t, role, folder)
    kinds = {
        "value_float": (AttributeProto.FLOAT, np.float32), "value_floats": (AttributeProto.FLOATS, np.float32),
        "value_int": (AttributeProto.INT, np.int64), "value_ints": (AttributeProto.INTS, np.int64),
    }  # fmt: skip
    if given.name in kinds and given.type == kinds[given.name][0]:
        return np.asarray(helper.get_attribute_value(given), kinds[given.name][1])
    raise NotTakenError(f"{role} must be a Constant of numbers, not of {given.name}")


def quantized_constant(
    node: NodeProto, role: str, x: npt.NDArray[Any], scale: npt.NDArray[Any], zero_point: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Float weights behind the QuantizeLinear `node`: x / scale rounded, plus the zero point, saturated."""
    form = Float8Format.of(zero_point.dtype)
    if x.dtype != np.float32 or scale.dtype != np.float32 or not (form or is_integer(zero_point.dtype)):
        kinds = f"{x.dtype.name}, {scale.dtype.name} and {zero_point.dtype.name}"
        raise NotTakenError(f"{role}: {label(node)} must take float32 to integers or float8, not {kinds}")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(scale) & (scale > 0))):
        raise NotTakenError(f"{role}: {label(node)} must take finite numbers and a positive, finite scale")
    if zero_point.size != scale.size:
        raise NotTakenError(f"{role}: {label(node)} must have as many zero points as scales")
    shape = _shape_beside(node, scale, x)
    with np.errstate(over="ignore"):  # infinity is saturated as well
        quotient = x / scale.reshape(shape)
    if form is not None:
        check_saturates(node)
        float8_zero(f"{role}'s zero point in {label(node)}", zero_point)
        return form.encode(quotient).view(zero_point.dtype)
    fmt = format_of(zero_point.dtype)
    y = np.rint(quotient) + zero_point.astype(np.float32).reshape(shape if zero_point.size > 1 else [])
    clipped: npt.NDArray[Any] = np.clip(y, fmt.min, fmt.max).astype(zero_point.dtype)
    return clipped


def dequantized_constant(
    node: NodeProto,
    role: str,
    x: npt.NDArray[Any],
    scale: npt.NDArray[Any],
    zero_point: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Integers behind the DequantizeLinear `node`, as float32: (x - zero_point) * scale."""
    if not is_integer(x.dtype) or scale.dtype != np.float32:
        raise NotTakenError(f"{role}: {label(node)} must take integers to float32, not {x.dtype.name}")
    shape = _shape_beside(node, scale, x)
    centred = x.astype(np.int64)
    if zero_point is not None:
        centred = centred - zero_point.astype(np.int64).reshape(shape if zero_point.size > 1 else [])
    return np.asarray(centred.astype(np.float32) * scale.reshape(shape))


def _shape_beside(node: NodeProto, scale: npt.NDArray[Any], x: npt.NDArray[Any]) -> list[int]:
    """The shape in which `scale`, one number or one for each channel, meets the elements of `x`."""
    axis = channel_axis(node, scale, x.shape)
    return [scale.size if place == axis else 1 for place in range(x.ndim)]
