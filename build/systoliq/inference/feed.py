"""Feed of an inference: the inputs of a model by name, checked before onnxruntime gets them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.limits import TENSOR_ELEMENTS

from ..errors import InputError
from .operations import Array

__all__ = ["blank_feed", "checked_feed"]

_TYPES = {
    "float": "float32", "double": "float64", "float16": "float16", "bool": "bool",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip


def checked_feed(inputs: Sequence[Any], feed: Mapping[str, npt.ArrayLike]) -> dict[str, Array]:
    """`feed` as arrays; InputError where it has not each of `inputs`, onnxruntime's NodeArgs, in its type and shape."""
    known = [each.name for each in inputs]
    if missing := [name for name in known if name not in feed]:
        raise InputError(f"inputs must hold {missing[0]!r}, and have {', '.join(map(repr, feed)) or 'nothing'}")
    if unknown := [name for name in feed if name not in known]:
        raise InputError(f"inputs must be among {', '.join(map(repr, known))}, not {unknown[0]!r}")
    arrays = {}
    for each in inputs:
        array = np.asarray(feed[each.name])
        kind = _type_of(each)
        if array.dtype != kind:
            raise InputError(f"{each.name} must be of {kind}, not of {array.dtype.name}")
        if len(array.shape) != len(each.shape) or any(
            isinstance(size, int) and size != given for size, given in zip(each.shape, array.shape, strict=True)
        ):
            wanted = ", ".join(map(str, each.shape))
            raise InputError(f"{each.name} must have the shape [{wanted}], not {list(array.shape)}")
        arrays[each.name] = array
    return arrays


def blank_feed(inputs: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Zeros for `inputs`, onnxruntime's NodeArgs; `shapes` are those that the model leaves open, by name."""
    known = [each.name for each in inputs]
    if unknown := [name for name in shapes if name not in known]:
        raise InputError(f"shape must be of one of {', '.join(map(repr, known))}, not of {unknown[0]!r}")
    arrays = {}
    for each in inputs:
        shape = shapes.get(each.name, each.shape)
        if isinstance(shape, str) or not isinstance(shape, Sequence):
            raise InputError(f"shape of {each.name!r} must be a sequence of integers, not {shape!r}")
        if any(not isinstance(size, int) for size in shape):
            open_sizes = ", ".join(str(size) for size in shape if not isinstance(size, int))
            raise InputError(
                f"shape of {each.name!r} must be given: the model leaves {open_sizes} of it open; "
                f"{_example(each.name, shape)}"
            )
        if min(shape, default=1) < 1:
            raise InputError(f"shape of {each.name!r} must have sizes of at least 1, not {list(shape)}")
        if math.prod(shape) > TENSOR_ELEMENTS:
            raise InputError(f"shape of {each.name!r} must have at most {TENSOR_ELEMENTS} elements, not {list(shape)}")
        arrays[each.name] = np.zeros(shape, _type_of(each))
    return checked_feed(inputs, arrays)


def _example(name: str, shape: Sequence[Any]) -> str:
    sizes = ",".join(str(size) if isinstance(size, int) else "1" for size in shape)
    return f"for example --shape {name}={sizes}"


def _type_of(each: Any) -> str:
    kind = _TYPES.get(each.type.removeprefix("tensor(").removesuffix(")"))
    if kind is None:
        raise InputError(f"{each.name} must be a tensor of numbers, not {each.type}")
    return kind
