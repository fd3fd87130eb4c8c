"""Moves: integers in other places or shapes, or repeated, none changed; and the host's Cast before them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..limits import TENSOR_ELEMENTS
from .node import Node

__all__ = ["Cast", "Move", "Movement", "Nearest", "Reshape", "Transpose", "moved_shape"]


@dataclass(frozen=True)
class Reshape:
    """Another shape for the same elements in the same order: Reshape, Flatten, Squeeze, Unsqueeze, Identity.

    `shape` is that of one image: the batch before it stays.
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
class Cast:
    """Integers of the numpy type `type_name` as float32, which the host makes of them before it quantizes them."""

    type_name: str

    def apply(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same numbers in float32, rounded to nearest, halves to even, where it has not all their bits."""
        return x.astype(np.float32)


Movement = Reshape | Transpose | Nearest


def moved_shape(shape: Sequence[int], movements: Iterable[Movement]) -> tuple[int, ...]:
    """Return the shape that `movements` make of `shape`; ValueError if one of them does not apply or makes too much."""
    array = np.zeros(shape, np.uint8)
    for movement in movements:
        if isinstance(movement, Nearest):
            made = math.prod(array.shape[:2]) * len(movement.rows) * len(movement.columns)
            if made > TENSOR_ELEMENTS:
                raise ValueError(f"a tensor must have at most {TENSOR_ELEMENTS} elements, not {made}")
        array = movement.apply(array)
    return array.shape


_WORDS = {Reshape: "reshape", Transpose: "transpose", Nearest: "nearest pixels"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Move(Node):
    """Integers moved as `movement` says; input and output count alike."""

    movement: Movement

    def __post_init__(self) -> None:
        (x,) = self.inputs
        self.expect_same_count()
        if isinstance(self.movement, Nearest):  # which may make more of a tensor than can be held
            self.expect_shape((*x.shape[:2], len(self.movement.rows), len(self.movement.columns)))
        self.expect_shape(self.movement.apply(np.zeros(x.shape, np.uint8)).shape)

    @property
    def kind(self) -> str:
        """As its movement is called."""
        same = isinstance(self.movement, Reshape) and self.output.shape == self.inputs[0].shape
        return "identity" if same else _WORDS[type(self.movement)]

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The moved integers."""
        (x,) = inputs
        return self.movement.apply(x)

    @property
    def permutes(self) -> bool:
        """Whether each element of the input is there once."""
        if not isinstance(self.movement, Nearest):
            return True
        picked = (self.movement.rows, self.movement.columns)
        return all(
            sorted(each) == list(range(size)) for each, size in zip(picked, self.inputs[0].shape[2:], strict=True)
        )

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Which element of the streamed input each element of the streamed output is: indices [pixels, channels].

        Streams are as `Tensor.raster` has them; an index counts pixels * channels of the input. It is 0, 1, 2, ...
        where the stream stays as it is.
        """
        (x,) = self.inputs
        source = x.unraster(np.arange(x.pixels * x.channels).reshape(1, x.pixels, x.channels))
        found: npt.NDArray[np.int64] = self.output.raster(self.movement.apply(source))[0]
        return found
