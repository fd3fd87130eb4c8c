"""Operators: the inputs of each by role, how it multiplies, and the readers that take it. `catalogue` has the rows."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .graph import Graph
from .node import Given, NotTakenError, domain, takes_transposed_b

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Operator", "Operators", "Work"]

LayerReader = Callable[[Graph, "NodeProto", Given], dict[str, Any]]
NetworkReader = Callable[[Any, "NodeProto"], Any]  # a Handler of `network.reader`, which this file does not import


class Work(enum.Enum):
    """How an operator multiplies and accumulates."""

    NONE = "not at all"
    MATRIX = "a matrix product"
    CONVOLUTION = "a convolution"
    OTHER = "products whose number is not counted"
    BODIES = "as its bodies do, which is not counted"


@dataclass(frozen=True)
class Operator:
    """The operator `name` of `domain`; ONNX's own domain is "".

    `inputs` are the roles of its inputs, in order, where anything here asks for one: a, b and y are quantized tensors,
    with `a_scale` and `a_zero_point`, `x` is real, and `bias` is added. `repeated` are the roles of all further inputs,
    in groups. `least` is the number of required inputs; 0 where the onnx library checks it.

    `layer` reads a product as a layer, and `network` reads a node as part of a network; each may be the reason why it
    is never taken, or None if nothing is special about it. `engine`: the engine computes its products. `by_row`: the
    first dimension may be rows of one image, without a batch (see `network.flat`). `like`: the operator of ONNX that,
    of the same operands, has a result of the same shape and type; it is the operator itself if it takes all inputs.
    """

    name: str
    domain: str = ""
    _: dataclasses.KW_ONLY
    inputs: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    least: int = 0
    work: Work = Work.NONE
    layer: LayerReader | str | None = None
    network: NetworkReader | str | None = None
    engine: bool = False
    by_row: bool = False
    like: str = ""

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections of the documentation that must name the operator."""
        pages = {
            "onnx.md#supported-patterns": callable(self.layer),
            "networks.md#supported-operators": callable(self.network),
            "run.md#what-runs-where": self.engine,
        }
        return tuple(page for page, is_read in pages.items() if is_read)

    @property
    def is_product(self) -> bool:
        """True if it multiplies and accumulates."""
        return self.work not in (Work.NONE, Work.BODIES)

    @property
    def on_integers(self) -> bool:
        """True if its operands come with zero points, as inputs of the node itself."""
        return "b_zero_point" in self.inputs

    def check_inputs(self, node: NodeProto) -> None:
        """Raise NotTakenError if `node` has too few inputs, which the onnx library does not check for com.microsoft."""
        if len(node.input) < self.least:
            raise NotTakenError(f"it must have at least {self.least} inputs, not {len(node.input)}")

    def fields(self, graph: Graph, node: NodeProto) -> dict[str, Any]:
        """The fields of the layer that `node` is; NotTakenError gives the reason if it is none."""
        if not callable(self.layer):
            raise NotTakenError(self.layer or f"{self.name} is no matrix product")
        return self.layer(graph, node, self.given(node))

    def place(self, role: str) -> int | None:
        """The place of an input; None if the operator has no such input."""
        return self.inputs.index(role) if role in self.inputs else None

    def given(self, node: NodeProto) -> Given:
        """The tensor at each of `inputs`, by role; "" for those that `node` leaves out."""
        names = [*node.input, *[""] * len(self.inputs)]
        return dict(zip(self.inputs, names, strict=False))

    def operands(self, node: NodeProto) -> list[str]:
        """The inputs of `node` but scales and zero points."""
        return [name for role, name in self._by_role(node) if not role.endswith(("_scale", "_zero_point"))]

    def scales(self, node: NodeProto) -> Iterator[str]:
        """The tensors of `node` that are scales."""
        return (name for role, name in self._by_role(node) if role.endswith("_scale") and name)

    def _by_role(self, node: NodeProto) -> Iterator[tuple[str, str]]:
        """The role and the tensor of each input of `node`."""
        more = len(node.input) - len(self.inputs)
        return zip([*self.inputs, *(self.repeated * more)[: max(more, 0)]], node.input, strict=False)

    def multiply_accumulates(self, graph: Graph, node: NodeProto) -> int | None:
        """Products of `node` by the shapes that the model states: 0 if it has none, None if their number is unknown."""
        b = self.place("b")
        if self.work in (Work.OTHER, Work.BODIES):
            return None
        if self.work is Work.NONE or b is None or len(node.input) <= b:
            return 0
        outputs, w = graph.shape(node.output[0]), graph.shape(node.input[b])
        if outputs is None or not w or not all(isinstance(size, int) for size in (*outputs, *w)):
            return None
        if self.work is Work.CONVOLUTION:
            depth = int(np.prod(w[1:]))  # type: ignore[arg-type]
        else:
            depth = int(w[-1 if takes_transposed_b(node) else -2 if len(w) > 1 else 0])  # type: ignore[arg-type]
        return int(np.prod(outputs)) * depth  # type: ignore[arg-type]


class Operators:
    """A catalogue of operators, by domain and name."""

    def __init__(self, rows: Iterable[Operator]) -> None:
        self._rows: dict[tuple[str, str], Operator] = {}
        for row in rows:
            if self._rows.setdefault((row.domain, row.name), row) is not row:
                raise ValueError(f"operators must have one row each, not two of {row.name}")
        self._facts = {
            row.name: dataclasses.replace(row, layer=None, network=None, engine=False) for row in self._rows.values()
        }

    def __iter__(self) -> Iterator[Operator]:
        return iter(self._rows.values())

    def of(self, node: NodeProto) -> Operator:
        """The operator of `node`. In a foreign domain nothing reads it, but it has the facts of its namesake."""
        row = self._rows.get((domain(node), node.op_type))
        return row or self._facts.get(node.op_type) or Operator(node.op_type, domain(node))
