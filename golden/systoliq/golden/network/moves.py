"""Moves: unchanged integers in other places or shapes, repeated or omitted; and the host's Cast before them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..limits import TENSOR_ELEMENTS
from .node import Node

__all__ = ["Cast", "Chain", "Gather", "Move", "Movement", "Nearest", "Reshape", "Transpose", "moved_shape"]


@dataclass(frozen=True)
class Reshape:
    """Another shape for the same elements in the same order: Reshape, Flatten, Squeeze, Unsqueeze, Identity.

    `shape` is the shape of one image; the batch is the first dimension and does not change.
    """

    shape: tuple[int, ...]

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, *shape]."""
        return x.reshape(len(x), *self.shape)


@dataclass(frozen=True)
class Transpose:
    """Another order of the dimensions: `perm` as in ONNX, the batch first."""

    perm: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.perm[:1] != (0,) or sorted(self.perm) != list(range(len(self.perm))):
            raise ValueError(f"perm must be an order of dimensions with the batch, 0, first, not {list(self.perm)}")

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The dimensions of `x` in the order `perm`."""
        return np.ascontiguousarray(x.transpose(self.perm))


@dataclass(frozen=True)
class Nearest:
    """Rows and columns of an image [batch, C, H, W], picked by their indices, each any number of times: Resize."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, C, len(rows), len(columns)]."""
        return x[:, :, self.rows][:, :, :, self.columns]


@dataclass(frozen=True)
class Gather:
    """Slices along `axis`, not the batch, picked by their `indices`, each any number of times: Gather, Slice, Split."""

    axis: int
    indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.axis < 1:
            raise ValueError(f"axis must be at least 1, not {self.axis}: the batch stays whole")
        if not self.indices or min(self.indices) < 0:
            raise ValueError(f"indices must be at least one, none negative, not {list(self.indices)}")

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """`x` with len(indices) slices along the axis; ValueError if it has not all of them."""
        if self.axis >= x.ndim or max(self.indices) >= x.shape[self.axis]:
            raise ValueError(f"slices up to {max(self.indices)} of axis {self.axis} must be there, not {list(x.shape)}")
        return x.take(self.indices, self.axis)


@dataclass(frozen=True)
class Chain:
    """Several movements in sequence, which one memory performs at once."""

    movements: tuple[Movement, ...]

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Apply the movements in order."""
        for movement in self.movements:
            x = movement.apply(x)
        return x


@dataclass(frozen=True)
class Cast:
    """Integers of the numpy type `type_name` as float32: the host converts them before it quantizes them."""

    type_name: str

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same numbers in float32, rounded to nearest, halves to even, where it has not all their bits."""
        return x.astype(np.float32)


Movement = Reshape | Transpose | Nearest | Gather | Chain


def moved_shape(shape: Sequence[int], movements: Iterable[Movement]) -> tuple[int, ...]:
    """Return the shape that `movements` make of `shape`; ValueError if one of them does not apply or makes too much."""
    array = np.zeros(shape, np.uint8)
    for movement in _single(movements):
        sizes = dict(enumerate(array.shape))
        made = math.prod((sizes | {axis: len(each) for axis, each in _picked(movement).items()}).values())
        if made > TENSOR_ELEMENTS:
            raise ValueError(f"a tensor must have at most {TENSOR_ELEMENTS} elements, not {made}")
        array = movement.apply(array)
    return array.shape


def _single(movements: Iterable[Movement]) -> Iterator[Movement]:
    for movement in movements:
        if isinstance(movement, Chain):
            yield from _single(movement.movements)
        else:
            yield movement


def _picked(movement: Movement) -> dict[int, tuple[int, ...]]:
    """For each axis whose slices the movement picks, their indices."""
    if isinstance(movement, Nearest):
        return {2: movement.rows, 3: movement.columns}
    return {movement.axis: movement.indices} if isinstance(movement, Gather) else {}


_WORDS = {Reshape: "reshape", Transpose: "transpose", Nearest: "nearest pixels", Gather: "gather", Chain: "reorder"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Move(Node):
    """Integers moved by `movement`; input and output have the same scale and zero point."""

    movement: Movement

    def __post_init__(self) -> None:
        self.expect_same_count()
        self.expect_shape(moved_shape(self.inputs[0].shape, [self.movement]))

    @property
    def kind(self) -> str:
        """The name of the movement's kind."""
        same = isinstance(self.movement, Reshape) and self.output.shape == self.inputs[0].shape
        return "identity" if same else _WORDS[type(self.movement)]

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The moved integers."""
        (x,) = inputs
        return self.movement.apply(x)

    @property
    def permutes(self) -> bool:
        """True if each element of the input is there once, and no memory is needed to reorder elements."""
        if isinstance(self.movement, Chain):
            return False
        picked = _picked(self.movement).items()
        return all(sorted(each) == list(range(self.inputs[0].shape[axis])) for axis, each in picked)

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Index in the streamed input of each element of the streamed output: [pixels, channels].

        Streams are as `Tensor.raster` has them; an index counts pixels * channels of the input. It is 0, 1, 2, ...
        where the stream stays as it is.
        """
        (x,) = self.inputs
        source = x.unraster(np.arange(x.pixels * x.channels).reshape(1, x.pixels, x.channels))
        found: npt.NDArray[np.int64] = self.output.raster(self.movement.apply(source))[0]
        return found
