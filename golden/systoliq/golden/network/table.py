"""Tables: any function of one byte, stored as its 256 results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Node
from .tensor import Tensor

__all__ = ["Table", "entries_of"]

Function = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table(Node):
    """`entries` [256] in the output's format, by the input's integer, from the smallest up."""

    entries: npt.NDArray[Any]

    def __post_init__(self) -> None:
        self.expect_bytes()
        (x,) = self.inputs
        self.expect_shape(x.shape)
        entries = np.array(self.entries)
        if entries.shape != (256,) or entries.dtype != self.output.format.dtype:
            raise ValueError(
                f"entries must be 256 of {self.output.format}, not {list(entries.shape)} of {entries.dtype.name}"
            )
        entries.flags.writeable = False
        object.__setattr__(self, "entries", entries)

    @property
    def kind(self) -> str:
        """A table."""
        return "table"

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The entry of each integer."""
        (x,) = inputs
        return look_up(self.entries, x, self.inputs[0])


def look_up(entries: npt.NDArray[Any], x: npt.NDArray[Any], tensor: Tensor) -> npt.NDArray[Any]:
    """Return the entry of each integer in `x`, an array of `tensor`."""
    found: npt.NDArray[Any] = entries[x.astype(np.int16) - tensor.format.min]
    return found


def entries_of(x: Tensor, y: Tensor, function: Function | None = None) -> npt.NDArray[Any]:
    """Apply DequantizeLinear, `function` of float32 (None: identity) and QuantizeLinear to all 256 integers of `x`."""
    real = x.dequantize(x.codes)
    return y.quantize(real if function is None else function(real))
