"""Values of a model's tensors while it is read as a network: what is known of each, by its name.

Given     real numbers that the host makes of the graph's input
Tensor    integers; golden's own
Real      what a DequantizeLinear makes of integers
Constant  a constant of the model, as it is or behind a DequantizeLinear
Pending   real numbers that a node computes, and whose QuantizeLinear is still to come
ByChannel integers, or what a DequantizeLinear makes of them, with a scale for each channel
Result    real numbers behind the last integers: the host's
Unknown   what a node gives that is not taken
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Node, Tensor
from systoliq.golden.network.moves import Cast, Movement
from systoliq.golden.network.table import Function

from ..node import NotTakenError, label

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "FOLLOWERS",
    "ByChannel",
    "Constant",
    "Gains",
    "Given",
    "Line",
    "Make",
    "Pending",
    "Real",
    "Result",
    "Unknown",
    "Value",
]

FOLLOWERS = 64
"""Operators between a sum or a function and the QuantizeLinear behind it."""

Make = Callable[[Tensor], tuple[Node, ...]]
Gains = npt.NDArray[np.float64]
Line = Callable[[Gains, Gains], "Pending"]


@dataclass(frozen=True, kw_only=True)
class Given:
    """The graph's input `name`, of the shape `origin`, after `movements`; None where the host does more than that."""

    name: str
    origin: tuple[int, ...]
    shape: tuple[int, ...]
    movements: tuple[Movement | Cast, ...] | None = ()


@dataclass(frozen=True, kw_only=True)
class Real:
    """Real numbers, represented by the integers `tensor`."""

    tensor: Tensor


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The constant tensor `name`."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Pending:
    """The real result of `node`, of `shape`; `make` gives the operators that end in the tensor that it is quantized to.

    `counts`: the result is integers already, of that tensor's format, scale and zero point, as operators leave it that
    only choose among integers. `table`: it is a function of that tensor's integers, one by one. `biased` gives the
    sum with a constant, named. `line` gives the result times a number and plus another one, by channel; `plus`
    the result plus a tensor. `real` makes what onnxruntime computes before a Relu or Clip that has an effect, if that
    is not the same. `clamps` are the Relu and Clip that follow. `followers` counts the operators that were
    taken behind `node` already: a NotTakenError where they are more than `FOLLOWERS`.
    """

    node: NodeProto
    shape: tuple[int, ...]
    make: Make
    counts: Tensor | None = None
    table: tuple[Tensor, Function] | None = None
    biased: Callable[[str], Make] | None = None
    line: Line | None = None
    plus: Callable[[Tensor], Make] | None = None
    real: Make | None = None
    clamps: tuple[NodeProto, ...] = ()
    followers: int = 0

    def __post_init__(self) -> None:
        if self.followers > FOLLOWERS:
            raise NotTakenError(
                f"at most {FOLLOWERS} operators may stand between {label(self.node)} and a QuantizeLinear"
            )


@dataclass(frozen=True, kw_only=True)
class Result:
    """Real numbers of the host."""


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """The result of a node that is not taken, or an input without a shape; `source` names it."""

    source: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ByChannel:
    """Integers, or the real numbers that they represent, with the scales float32 [C] of their channels.

    `tensor` has the first channel's scale.
    """

    tensor: Tensor
    scales: npt.NDArray[np.float32]


Value = ByChannel | Given | Tensor | Real | Constant | Pending | Result | Unknown
