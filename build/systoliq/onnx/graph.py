"""A model's graph with the queries of the patterns: producers, consumers and constants of tensors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .constants import NUMBERS, constant_of, constant_of_node, dequantized_constant, quantized_constant
from .folding import computed, is_foldable
from .node import MOVES, NotTakenError, attribute, domain, is_operator, label

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

__all__ = ["CONSTANT_ELEMENTS", "Graph"]

CONSTANT_ELEMENTS = 1 << 26
"""Elements of all constants that are computed in a model."""


class Graph:
    """The main graph of `model`, whose nodes come in the order in which they compute; `folder` is where its external
    data lies.
    """

    def __init__(self, model: ModelProto, folder: Path) -> None:
        self.graph: GraphProto = model.graph
        self.opsets = list(model.opset_import)
        self.ir_version = model.ir_version
        self._folder = folder
        self._initializers = {tensor.name: tensor for tensor in self.graph.initializer}
        self._sparse = {tensor.values.name for tensor in self.graph.sparse_initializer}
        self._places = {name: place for place, node in enumerate(self.graph.node) for name in node.output if name}
        infos = (*self.graph.value_info, *self.graph.input, *self.graph.output)
        self._infos = {info.name: info.type.tensor_type for info in infos}
        self._found_shapes: dict[str, list[int | str | None]] = {}
        self._outputs = {info.name for info in self.graph.output}
        self._constant = set(self._initializers) | self._sparse
        self._consumers: defaultdict[str, list[NodeProto]] = defaultdict(list)
        for node in self.graph.node:
            if self._stays_constant(node):
                self._constant.update(filter(None, node.output))
            if not self._is_shape(node):
                for name in dict.fromkeys(node.input):
                    self._consumers[name].append(node)
        self._values: dict[str, npt.NDArray[Any]] = {}
        self._elements = 0  # of `_values`, that were computed

    def _stays_constant(self, node: NodeProto) -> bool:
        if is_operator(node, "Constant") or self._is_shape(node):
            return True
        given = [name for name in node.input if name]
        if given and (before := self._dequantizer(node)) is not None:
            given[:1] = filter(None, before.input)
        return self._is_kept(node) and bool(given) and all(name in self._constant for name in given)

    def _dequantizer(self, node: NodeProto) -> NodeProto | None:
        """The DequantizeLinear before the QuantizeLinear `node`, if there is one."""
        before = self.producer(node.input[0]) if is_operator(node, "QuantizeLinear") else None
        return before if before is not None and is_operator(before, "DequantizeLinear") else None

    def _is_kept(self, node: NodeProto) -> bool:
        """True if `node` makes constants of constants."""
        return is_operator(node, *MOVES, "QuantizeLinear") or is_foldable(node)

    def _is_shape(self, node: NodeProto) -> bool:
        """True if `node` returns a shape or size that the model states."""
        return is_operator(node, "Shape", "Size") and self._sizes(node.input[0]) is not None

    def _sizes(self, name: str) -> list[int] | None:
        """The dimensions of the tensor `name` where all are known."""
        shape = self.shape(name)
        sizes = [size for size in shape or [] if isinstance(size, int)]
        return None if shape is None or len(sizes) < len(shape) else sizes

    def place(self, node: NodeProto) -> int:
        """The place of `node` among the nodes."""
        return self._places[next(name for name in node.output if name)]

    @property
    def initializers(self) -> set[str]:
        """Names of the constants that the graph holds."""
        return set(self._initializers)

    def producer(self, name: str) -> NodeProto | None:
        """The node that makes the tensor `name`, or None: an input, an initializer or nothing makes it."""
        place = self._places.get(name)
        return None if place is None else self.graph.node[place]

    def consumers(self, name: str) -> list[NodeProto]:
        """The nodes that use the tensor `name`."""
        return self._consumers[name]

    def has_one_use(self, name: str) -> bool:
        """True if one node takes the tensor `name`, once, and the graph does not give it."""
        return len(self.consumers(name)) == 1 and not self.is_output(name)

    def is_output(self, name: str) -> bool:
        """True if the tensor `name` is an output of the graph."""
        return name in self._outputs

    def source(self, name: str) -> str:
        """The origin of the tensor `name`, in words."""
        node = self.producer(name)
        if node is not None:
            return label(node)
        if name in self._sparse:
            return f"the sparse initializer {name!r}"
        return f"the initializer {name!r}" if name in self._initializers else f"the graph's input {name!r}"

    def shape(self, name: str) -> list[int | str | None] | None:
        """Dimensions of the tensor `name`: sizes, names, or None where unknown; None where even their number is."""
        while name not in self._initializers:
            if name in self._found_shapes:
                return self._found_shapes[name]
            info = self._infos.get(name)
            if info is not None and info.HasField("shape"):
                return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in info.shape.dim]
            node = self.producer(name)
            if node is None or not is_operator(node, "QuantizeLinear", "DequantizeLinear"):
                return None
            name = node.input[0]  # for com.microsoft's operators, whose shapes onnx does not infer
        return list(self._initializers[name].dims)

    def state_shape(self, name: str, shape: Sequence[int]) -> None:
        """Say that the tensor `name` has this shape, which the model need not state."""
        self._found_shapes[name] = list(shape)

    def type_of(self, name: str) -> np.dtype[Any] | None:
        """The type of the tensor `name`, where it is known."""
        from onnx import helper

        info = self._infos.get(name)
        kind = self._initializers[name].data_type if name in self._initializers else info.elem_type if info else 0
        try:
            return helper.tensor_dtype_to_np_dtype(kind)
        except KeyError:  # 0, or what onnx does not know
            return None

    def is_constant(self, name: str) -> bool:
        """True if the tensor `name` is an initializer, a Constant, a stated shape, or folded from these."""
        return name in self._constant

    def constant(self, name: str, role: str) -> npt.NDArray[Any]:
        """The constant tensor `name`, of numbers; `role` describes it in errors."""
        value = self._evaluated(name, role)
        if value.dtype == np.bool_:
            raise NotTakenError(f"{role} must be of {NUMBERS}, not of bool")
        return value

    def flag(self, name: str, role: str) -> bool:
        """True if the constant tensor `name` of truth values contains a true one."""
        value = self._evaluated(name, role)
        if value.dtype != np.bool_:
            raise NotTakenError(f"{role} must be of bool, not of {value.dtype.name}")
        return bool(value.any())

    def _evaluated(self, name: str, role: str) -> npt.NDArray[Any]:
        """The constant tensor `name`, from those that it is made of; a NotTakenError where it is none."""
        if name not in self._constant:
            raise NotTakenError(f"{role} must be constant, not from {self._cause(name)}")
        todo = [(name, role)]
        while todo:
            name, role = todo[-1]
            node = self.producer(name)
            needed = [] if node is None else self._needed(node, role)
            if missing := [each for each in needed if each[0] not in self._values]:
                todo += missing[::-1]
                continue
            todo.pop()
            if name not in self._values:
                self._values |= self._made(name, node, role)
        return self._values[name]

    def _cause(self, name: str) -> str:
        """Why the tensor `name` is no constant, in words: what makes it, or an operator on constants before that."""
        first, node = name, self.producer(name)
        while node is not None and self._is_kept(node):
            first = next(each for each in node.input if each and each not in self._constant)
            node = self.producer(first)
        known = node is not None and all(each in self._constant for each in node.input if each)
        if node is None or not known or domain(node) or is_operator(node, "DequantizeLinear"):
            return self.source(name)
        return f"{self.source(first)}, which is not folded: fold it first, as onnxruntime's basic optimizations do"

    def _needed(self, node: NodeProto, role: str) -> list[tuple[str, str]]:
        """The constants that the value of `node` depends on, and the role of each."""
        if is_operator(node, "Constant") or self._is_shape(node):
            return []
        if is_operator(node, "QuantizeLinear"):
            if len(node.input) < 3 or not node.input[2]:
                raise NotTakenError(f"{role}: {label(node)} must have a zero point")
            before = self._dequantizer(node)
            first = node.input[:1] if before is None else filter(None, before.input)
            needed = [*((name, role) for name in first), (node.input[1], f"the scale of {label(node)}")]
            return [*needed, (node.input[2], f"the zero point of {label(node)}")]
        places = 1 if self._keeps_elements(node) else len(node.input)
        return [(name, role) for name in node.input[:places] if name]

    def _keeps_elements(self, node: NodeProto) -> bool:
        """True if `node` moves elements, to a shape that the model states."""
        return is_operator(node, "Identity", "Transpose") or (
            is_operator(node, *MOVES) and self._sizes(node.output[0]) is not None
        )

    def _made(self, name: str, node: NodeProto | None, role: str) -> dict[str, npt.NDArray[Any]]:
        """The constant `name`, and others that `node` makes with it, once those that they are made of are there."""
        if node is None:
            if name in self._sparse:
                raise NotTakenError(f"{role} must be dense, not {self.source(name)}")
            return {name: constant_of(self._initializers[name], role, self._folder)}
        if is_operator(node, "Constant"):
            return {name: constant_of_node(node, role, self._folder)}
        if self._keeps_elements(node):
            return {name: self._moved(node, role)}
        found = self._computed(name, node, role)
        self._elements += sum(array.size for array in found.values())
        if self._elements > CONSTANT_ELEMENTS:
            raise NotTakenError(
                f"{role}: constants that are computed must have at most {CONSTANT_ELEMENTS} elements in all"
            )
        return found

    def _computed(self, name: str, node: NodeProto, role: str) -> dict[str, npt.NDArray[Any]]:
        """The value that `node` computes from constants, or from a shape that the model states."""
        if is_operator(node, "QuantizeLinear"):
            before = self._dequantizer(node)
            x, scale, zero_point = (self._values.get(each, np.zeros(0)) for each in node.input[:3])
            if before is not None:
                x = dequantized_constant(before, role, *(self._values[each] for each in before.input if each))
            return {name: quantized_constant(node, role, x, scale, zero_point)}
        given = {each: self._values[each] for each in node.input if each in self._values}
        if self._is_shape(node):  # elements without memory represent the tensor's
            given = {node.input[0]: np.broadcast_to(np.zeros((), np.int8), self._sizes(node.input[0]) or ())}
        return computed(node, given, role, self.opsets)

    def _moved(self, node: NodeProto, role: str) -> npt.NDArray[Any]:
        """A constant behind an operator of `MOVES`."""
        x = self._values[node.input[0]]
        if node.op_type == "Identity":
            return x
        if node.op_type == "Transpose":
            perm = attribute(node, "perm")
            if perm is not None and sorted(perm) != list(range(x.ndim)):
                raise NotTakenError(f"{role}: perm must be a permutation of {x.ndim} axes in {label(node)}, not {perm}")
            return np.transpose(x, perm)
        # Reshape, Flatten, Squeeze, Unsqueeze keep the order of the elements, so that the inferred shape says it all.
        sizes = self._sizes(node.output[0]) or []
        if math.prod(sizes) != x.size or min(sizes, default=0) < 0:
            raise NotTakenError(
                f"{role} must keep its {x.size} elements behind {label(node)}, not have the shape {sizes}"
            )
        return x.reshape(sizes)
