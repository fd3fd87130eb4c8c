"""Network: integer operators in order, from the tensors that the host provides to those that it receives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.markup import described

from ..limits import TENSOR_ELEMENTS
from .moves import Cast, Movement, moved_shape
from .node import Node
from .tensor import Tensor

__all__ = ["Network", "Source"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """An input of the graph, and how the host makes integers of it: `movements`, then QuantizeLinear to `tensor`.

    `name` and `shape` describe the graph's input, which has integers if a Cast is among the movements. If `tensor` is
    that input itself, the host does nothing. If `movements` is None, the graph's input cannot be used, as the host does
    more than that.

    Raises ValueError if the movements do not make the tensor's shape of `shape`.
    """

    name: str
    shape: tuple[int, ...]
    movements: tuple[Movement | Cast, ...] | None
    tensor: Tensor

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"the source's name must be a string, not {self.name!r}")
        sizes = all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in self.shape)
        if not self.shape or not sizes or math.prod(self.shape) > TENSOR_ELEMENTS:
            raise ValueError(
                f"source {self.name!r} must have a shape of positive integers, of at most {TENSOR_ELEMENTS} elements, "
                f"not {list(self.shape)}"
            )
        if self.movements is not None:
            shape = moved_shape(self.shape, [each for each in self.movements if not isinstance(each, Cast)])
            if shape != self.tensor.shape:
                raise ValueError(
                    f"source {self.name!r} must be moved to the shape {list(self.tensor.shape)}, not {list(shape)}"
                )

    @property
    def type_name(self) -> str | None:
        """The numpy type of integers that a Cast of the host's takes; None where the input is real numbers."""
        return next((each.type_name for each in self.movements or () if isinstance(each, Cast)), None)

    def takes(self, dtype: np.dtype[Any]) -> bool:
        """True if the graph's input has this type, or one of the same kind for real numbers."""
        return dtype.kind == "f" if self.type_name is None else dtype.name == self.type_name

    def quantize(self, x: npt.ArrayLike) -> npt.NDArray[Any]:
        """The integers of `tensor` for the graph's input `x` [batch, ...]."""
        if self.movements is None:
            raise ValueError(
                f"{self.tensor.name} must be given: more than moves and a QuantizeLinear follow {self.name}"
            )
        array = np.asarray(x)
        if not self.takes(array.dtype):
            raise TypeError(f"{self.name} must hold {self.type_name or 'real numbers'}, not {array.dtype.name}")
        if array.ndim != len(self.shape) or array.shape[1:] != self.shape[1:]:
            raise ValueError(f"{self.name} must have the shape {['batch', *self.shape[1:]]}, not {list(array.shape)}")
        for movement in self.movements:
            array = movement.apply(array)
        return self.tensor.quantize(array)


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """Network of `nodes` in topological order, from the tensors of `sources` to `outputs`.

    Raises ValueError if a node uses a tensor that no earlier node produces or has no name, or if two tensors have the
    same name.
    """

    name: str
    sources: tuple[Source, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        made = {source.tensor.name for source in self.sources}
        for node in self.nodes:
            for tensor in node.inputs:
                if tensor.value is None and tensor.name not in made:
                    raise ValueError(f"{tensor.name!r} must be made before node {node.name!r}, and is not")
            if not isinstance(node.name, str) or not node.name:
                raise ValueError(f"the name of a node must be a str that is not empty, not {node.name!r}")
            if node.output.name in made:
                raise ValueError(f"{node.output.name!r} must be made by one node, not by {node.name!r} again")
            made.add(node.output.name)
        for tensor in self.outputs:
            if tensor.name not in made:
                raise ValueError(f"output {tensor.name!r} must be made by a node, and is not")

    def __repr__(self) -> str:
        given, made = (", ".join(map(_shown, tensors))[:60] for tensors in (self.inputs, self.outputs))
        return f"Network({self.name[:40]!r}, {given} -> {made}, {len(self.nodes)} nodes)"

    def _repr_html_(self) -> str:
        heads = ("node", "operator", "inputs", "output", "type", "multiply-accumulates")
        rows = [
            (
                node.name, type(node).__name__, ", ".join(each.name for each in node.inputs),
                " x ".join(map(str, node.output.shape)), node.output.format.name, f"{node.multiply_accumulates:,}",
            )
            for node in self.nodes
        ]  # fmt: skip
        return described(repr(self), heads, rows)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """Integer tensors that the host supplies."""
        return tuple(source.tensor for source in self.sources)

    @property
    def multiply_accumulates(self) -> int:
        """Multiply-accumulates for one batch of the inputs' shapes."""
        return sum(node.multiply_accumulates for node in self.nodes)

    def consumers(self, name: str) -> tuple[Node, ...]:
        """The nodes that take the tensor `name`, in order; more than one where the network forks."""
        return tuple(node for node in self.nodes if any(tensor.name == name for tensor in node.inputs))

    def golden(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
        """Return every integer tensor by its ONNX name, sources first.

        `inputs` has, for each source, real numbers under the name of the graph's input, or integers under the name of
        the tensor. Shapes are ONNX's, with any batch size, the same for all.
        """
        made = {source.tensor.name: self._taken(source, inputs) for source in self.sources}
        known = {name for source in self.sources for name in (source.name, source.tensor.name)}
        if unknown := sorted(set(inputs) - known):
            raise ValueError(f"inputs must be among {', '.join(sorted(known))}, not {', '.join(unknown)}")
        if len(batches := {len(array) for array in made.values()}) > 1:
            raise ValueError(f"all inputs must have the same batch, not {sorted(batches)}")
        for node in self.nodes:
            arrays = [made[t.name] if t.value is None else t.value for t in node.inputs]
            made[node.output.name] = node.apply(*arrays)
        return made

    @staticmethod
    def _taken(source: Source, inputs: Mapping[str, npt.ArrayLike]) -> npt.NDArray[Any]:
        if source.tensor.name in inputs:
            return source.tensor.check(inputs[source.tensor.name])
        if source.name in inputs:
            return source.quantize(inputs[source.name])
        names = " or ".join(dict.fromkeys((source.name, source.tensor.name)))
        raise ValueError(f"inputs must hold {names}, and has only {', '.join(inputs) or 'nothing'}")


def _shown(tensor: Tensor) -> str:
    return f"{tensor.name[:20]}: {tensor.format.name} {list(tensor.shape)}"
