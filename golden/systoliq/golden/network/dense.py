"""Dense layer of a network: QLinearMatMul or QGemm, a product of every row with constant weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..layer import MatMulLayer
from .node import Node

__all__ = ["Dense"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Node):
    """Rows [..., K] times the weights of `layer`, requantized: [..., N]."""

    layer: MatMulLayer

    def __post_init__(self) -> None:
        (x,) = self.inputs
        if x.shape[-1] != self.layer.k or not 2 <= len(x.shape) <= 3:
            raise ValueError(
                f"{x.name!r} must have the shape [batch, {self.layer.k}] or [batch, rows, {self.layer.k}], not "
                f"{list(x.shape)}"
            )
        self.expect_shape((*x.shape[:-1], self.layer.n))
        self.expect_layer(self.layer)

    @property
    def kind(self) -> str:
        """With both widths."""
        return f"dense {self.layer.k} -> {self.layer.n}"

    @property
    def multiply_accumulates(self) -> int:
        """K for every output."""
        return int(np.prod(self.output.shape)) * self.layer.k

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[..., N]."""
        (x,) = inputs
        return self.layer.golden(x.reshape(-1, self.layer.k)).reshape(*x.shape[:-1], self.layer.n)
