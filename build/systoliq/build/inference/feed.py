"""Feed of an inference: the inputs of a model by name, checked before onnxruntime gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .operations import Array

__all__ = ["checked_feed"]

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
        kind = _TYPES.get(each.type.removeprefix("tensor(").removesuffix(")"))
        if kind is None:
            raise InputError(f"{each.name} must be a tensor of numbers, not {each.type}")
        if array.dtype != kind:
            raise InputError(f"{each.name} must be of {kind}, not of {array.dtype.name}")
        if len(array.shape) != len(each.shape) or any(
            isinstance(size, int) and size != given for size, given in zip(each.shape, array.shape, strict=True)
        ):
            raise InputError(f"{each.name} must have the shape {list(each.shape)}, not {list(array.shape)}")
        arrays[each.name] = array
    return arrays
