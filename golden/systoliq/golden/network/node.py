"""Nodes of a network: the common part of all integer operators, and their contract with tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ..layer import MatMulLayer
from .tensor import BYTE, Tensor

__all__ = ["Node"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Node(ABC):
    """An operator on `inputs` that computes `output`, all of at most 8 bits; `name` is the name of its node in ONNX.

    An input has the scale and zero point with which the operator reads it; the node that computes it can have others.

    Arrays have the shapes of their tensors, with any batch. ValueError names a shape or format that does not fit the
    operator.
    """

    name: str
    inputs: tuple[Tensor, ...]
    output: Tensor

    @abstractmethod
    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The output's integers for the inputs' integers."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The operator in words, with its sizes."""

    @property
    def multiply_accumulates(self) -> int:
        """Products that one batch of the tensors' shapes takes, those with padding included."""
        return 0

    def expect_layer(self, layer: MatMulLayer) -> None:
        """A ValueError where `layer` has other formats or zero points than the input and the output."""
        (x,) = self.inputs
        if (layer.a_format, layer.y_format) != (x.format, self.output.format):
            raise ValueError("the layer must have the formats of input and output")
        points = int(layer.a_zero_point), int(layer.y_zero_point)
        if points != (x.zero_point, self.output.zero_point):
            raise ValueError(
                f"the layer must have the zero points of input and output, {x.zero_point} and "
                f"{self.output.zero_point}, not {points[0]} and {points[1]}"
            )

    def expect_shape(self, shape: tuple[int, ...]) -> None:
        """A ValueError where the output has another shape."""
        if self.output.shape != tuple(shape):
            raise ValueError(
                f"the output of {self.name!r} must have the shape {list(shape)}, not {list(self.output.shape)}"
            )

    def expect_same_format(self) -> None:
        """A ValueError where inputs and output are not all of one format of 8 bits."""
        formats = [tensor.format for tensor in (*self.inputs, self.output)]
        if len(set(formats)) > 1 or formats[0].bits != BYTE:
            raise ValueError(
                f"inputs and output must be all of int8 or all of uint8, not of {', '.join(map(str, formats))}"
            )

    def expect_bytes(self) -> None:
        """A ValueError where a tensor has fewer than 8 bits: for operators that are tables of all bytes."""
        for tensor in (*self.inputs, self.output):
            if tensor.format.bits != BYTE:
                raise ValueError(f"{tensor.name!r} must be of int8 or uint8 at {self.name!r}, not of {tensor.format}")

    def expect_int32(self, most: float) -> None:
        """A ValueError where the result may be `most` steps of the output, beyond what fits 32 bits.

        onnxruntime converts it to int32 before it saturates, and of more its processor makes the least int32.
        """
        if not most < 2**31 - 2**9:
            raise ValueError(
                f"the results of {self.name!r} must stay below 2^31 in units of the output's scale, where onnxruntime "
                f"converts them to int32, and may be {most:.3g}"
            )

    def expect_same_count(self) -> None:
        """Raise ValueError if an input's integers represent other real numbers than the output's."""
        for tensor in self.inputs:
            if not tensor.counts_as(self.output):
                raise ValueError(
                    f"{tensor.name!r} and {self.output.name!r} must have the same format, scale and zero point, not "
                    f"{_count(tensor)} and {_count(self.output)}"
                )


def _count(tensor: Tensor) -> str:
    return f"{tensor.format}, {float(tensor.scale):.6g}, {tensor.zero_point}"
