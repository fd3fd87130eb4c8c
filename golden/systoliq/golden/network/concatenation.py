"""Concatenation: com.microsoft.QLinearConcat, tensors side by side; a table takes each to the output's scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Node
from .table import entries_of, look_up

__all__ = ["Concatenation"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Concatenation(Node):
    """The inputs in order along `axis`, which is not the batch."""

    axis: int

    def __post_init__(self) -> None:
        self.expect_bytes()
        first = self.inputs[0].shape
        if not 1 <= self.axis < len(first):
            raise ValueError(f"axis must be 1 to {len(first) - 1}, not {self.axis}: the batch stays whole")
        shapes = [list(tensor.shape) for tensor in self.inputs]
        if len({(*shape[: self.axis], *shape[self.axis + 1 :]) for shape in shapes}) > 1:
            raise ValueError(f"inputs must have the same shapes but for axis {self.axis}, not {shapes}")
        total = sum(shape[self.axis] for shape in shapes)
        self.expect_shape((*first[: self.axis], total, *first[self.axis + 1 :]))

    @property
    def kind(self) -> str:
        """With the number of its inputs."""
        return f"concatenation of {len(self.inputs)}"

    @cached_property
    def tables(self) -> tuple[npt.NDArray[Any] | None, ...]:
        """For each input its 256 entries, None where its integers stay as they are."""
        return tuple(
            None if tensor.counts_as(self.output) else entries_of(tensor, self.output) for tensor in self.inputs
        )

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """All inputs, requantized where need be; those that are constant for every image."""
        batch = max(map(len, inputs))
        parts = [
            np.broadcast_to(x if table is None else look_up(table, x, tensor), (batch, *x.shape[1:]))
            for x, table, tensor in zip(inputs, self.tables, self.inputs, strict=True)
        ]
        return np.concatenate(parts, axis=self.axis)
