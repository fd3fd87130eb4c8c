"""Feed of a session in batches of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..inference.feed import checked_feed

__all__ = ["Arrays", "batches_of"]

Arrays = dict[str, npt.NDArray[Any]]


def batches_of(inputs: Sequence[Any], feed: Mapping[str, npt.ArrayLike]) -> list[Arrays]:
    """Return `feed` in pieces of the batch of `inputs`, onnxruntime's NodeArgs; of 1 if they leave it open.

    Raises InputError for a feed without each input in its type and shape, and for another number of images.
    """
    arrays = {name: np.asarray(array) for name, array in feed.items()}
    sizes = {each.name: each.shape[0] if each.shape and isinstance(each.shape[0], int) else 1 for each in inputs}
    counts = {}
    for name, array in arrays.items():
        if name in sizes and array.ndim:
            if not len(array) or len(array) % sizes[name]:
                raise InputError(f"{name} must have a multiple of {sizes[name]} images, not {len(array)}")
            counts[name] = len(array) // sizes[name]
    if len(set(counts.values())) > 1:
        held = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise InputError(f"inputs must have the same number of batches each, not {held}")
    return [
        checked_feed(inputs, {name: _piece(array, place, sizes.get(name, 1)) for name, array in arrays.items()})
        for place in range(next(iter(counts.values()), 1))
    ]


def _piece(array: npt.NDArray[Any], place: int, size: int) -> npt.NDArray[Any]:
    return array[place * size :][:size] if array.ndim else array
