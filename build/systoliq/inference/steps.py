"""Steps of an inference: a lowered graph cut into products for the engine, and pieces for the host between them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError
from ..onnx.functions import all_nodes, tensors_taken
from ..onnx.graph import Graph
from .products import is_product, reason_for_host

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["BETWEEN", "EngineStep", "HostStep", "Step", "VectorStep", "cut", "label_of", "made_by"]

BETWEEN = ("DequantizeLinear", "QuantizeLinear")
"""Operators that only change the form of a tensor."""
_SUFFIX = re.compile(r"(_token_\d+|/duplicated)+$")
_GENERATED = re.compile(r"generated_name_\d+$")


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineStep:
    """A node whose products the engine computes."""

    name: str
    node: NodeProto


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorStep:
    """Nodes that the engine's vector unit computes at once, element by element, from one or two tensors `inputs`.

    `node` is the last of `nodes`; its output is the step's.
    """

    name: str
    nodes: tuple[NodeProto, ...]
    inputs: tuple[str, ...]

    @property
    def node(self) -> NodeProto:
        """The node that makes the output."""
        return self.nodes[-1]

    @property
    def output(self) -> str:
        """The tensor that it makes."""
        name: str = self.node.output[0]
        return name

    @property
    def operator(self) -> str:
        """The operators of the nodes that compute; QuantizeLinear if there are none."""
        names = [node.op_type for node in self.nodes]
        return " ".join(name for name in names if name not in BETWEEN) or names[-1]


@dataclass(frozen=True, kw_only=True, eq=False)
class HostStep:
    """Nodes that onnxruntime runs at once, from the tensors `inputs` to `outputs`.

    `products` are the nodes that compute products, and those that the vector unit refused, by name, with the reason why
    the engine does not take them.
    """

    nodes: tuple[NodeProto, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    products: dict[str, tuple[str, str]]


Step = EngineStep | VectorStep | HostStep


def made_by(step: Step) -> list[str]:
    """The tensors that a step makes for others, or for the user."""
    return list(step.outputs if isinstance(step, HostStep) else step.node.output[:1])


def label_of(node: NodeProto) -> str:
    """The node's name as the model has it: without what onnxruntime adds, or its output's where it made it up."""
    name = _SUFFIX.sub("", node.name)
    return node.output[0] if not name or _GENERATED.match(name) else name


def cut(
    graph: Graph,
    only: Collection[str] | None = None,
    refused: Mapping[str, str] | None = None,
    vectors: Sequence[VectorStep] = (),
    *,
    memory: bool = False,
) -> tuple[Step, ...]:
    """The steps of a graph whose nodes come in the order in which they compute, products as soon as they can be.

    `only` names the products for the engine, and leaves all others to the host. `refused` are more reasons for it, by
    the first output of a node. `vectors` are the steps of the vector unit; their nodes are in no other step. The engine
    has `memory` or streams.
    """
    of_vector = {step.output: step for step in vectors}
    inside = {node.output[0] for step in vectors for node in step.nodes[:-1]}
    nodes = [node for node in graph.graph.node if node.output[0] not in inside]
    reasons = {node.output[0]: reason_for_host(graph, node, memory=memory) for node in nodes}
    if only is not None:
        known = {label_of(node): node.output[0] for node in nodes if reasons[node.output[0]] is None}
        if unknown := [name for name in only if name not in known]:
            listed = ", ".join(map(repr, known)) or "none"
            raise InputError(f"only must name products that the engine takes, not {unknown[0]!r}; they are {listed}")
        reasons |= {output: "not asked for" for name, output in known.items() if name not in only}
    refused = refused or {}
    reasons |= refused
    reasons |= dict.fromkeys(of_vector)
    users: defaultdict[str, set[str]] = defaultdict(set)
    takes = {
        node.output[0]: of_vector[node.output[0]].inputs if node.output[0] in of_vector else tuple(tensors_taken(node))
        for node in nodes
    }
    for output, names in takes.items():
        for name in names:
            users[name].add(output)
    steps: list[Step] = []
    for host, engine in _levels(nodes, reasons, takes):
        if host:
            steps.append(_host_step(graph, host, reasons, users, refused))
        steps += [of_vector.get(node.output[0]) or EngineStep(name=label_of(node), node=node) for node in engine]
    return tuple(steps)


def _levels(
    nodes: list[NodeProto], reasons: Mapping[str, str | None], takes: Mapping[str, Collection[str]]
) -> Iterator[tuple[list[NodeProto], list[NodeProto]]]:
    """Nodes for the host, and those for the engine behind them, by how many of the latter they wait for, one after the
    other; `takes` are the tensors that a node takes, by its first output.
    """
    levels: dict[str, int] = {}  # of tensors
    grouped: defaultdict[int, tuple[list[NodeProto], list[NodeProto]]] = defaultdict(lambda: ([], []))
    for node in nodes:
        level = max((levels.get(name, 0) for name in takes[node.output[0]]), default=0)
        for_engine = reasons[node.output[0]] is None
        grouped[level][for_engine].append(node)
        levels |= dict.fromkeys(node.output, level + for_engine)
    yield from (grouped[level] for level in sorted(grouped))


def _host_step(
    graph: Graph,
    nodes: list[NodeProto],
    reasons: Mapping[str, str | None],
    users: Mapping[str, set[str]],
    refused: Collection[str],
) -> HostStep:
    own = {node.output[0] for node in nodes}
    made = dict.fromkeys(name for node in nodes for name in node.output if name)
    in_bodies = {name for node in nodes for each in all_nodes([node]) for name in each.output}
    taken = dict.fromkeys(name for node in nodes for name in tensors_taken(node))
    return HostStep(
        nodes=tuple(nodes),
        inputs=tuple(name for name in taken if name not in in_bodies and name not in graph.initializers),
        outputs=tuple(name for name in made if graph.is_output(name) or users.get(name, set()) - own),
        products={
            label_of(node): (node.op_type, str(reasons[node.output[0]]))
            for node in nodes
            if is_product(node) or node.output[0] in refused
        },
    )
