"""Steps of an inference: a lowered graph cut into products for the engine, and pieces for the host between them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError
from ..onnx.functions import all_nodes, tensors_taken
from ..onnx.graph import Graph
from .products import is_product, reason_for_host

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["EngineStep", "HostStep", "cut", "label_of"]

_SUFFIX = re.compile(r"(_token_\d+|/duplicated)+$")
_GENERATED = re.compile(r"generated_name_\d+$")


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineStep:
    """A node whose products the engine computes."""

    name: str
    node: NodeProto


@dataclass(frozen=True, kw_only=True, eq=False)
class HostStep:
    """Nodes that onnxruntime runs at once, from the tensors `inputs` to `outputs`.

    `products` are the nodes that compute products, by name, with the reason why the engine does not take them.
    """

    nodes: tuple[NodeProto, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    products: dict[str, tuple[str, str]]


def label_of(node: NodeProto) -> str:
    """The node's name as the model has it: without what onnxruntime adds, or its output's where it made it up."""
    name = _SUFFIX.sub("", node.name)
    return node.output[0] if not name or _GENERATED.match(name) else name


def cut(
    graph: Graph, only: Collection[str] | None = None, refused: Mapping[str, str] | None = None
) -> tuple[EngineStep | HostStep, ...]:
    """The steps of a graph whose nodes come in the order in which they compute, products as soon as they can be.

    `only` names the products for the engine, and leaves all others to the host. `refused` are more reasons for it, by
    the first output of a node.
    """
    nodes = list(graph.graph.node)
    reasons = {node.output[0]: reason_for_host(graph, node) for node in nodes}
    if only is not None:
        known = {label_of(node): node.output[0] for node in nodes if reasons[node.output[0]] is None}
        if unknown := [name for name in only if name not in known]:
            listed = ", ".join(map(repr, known)) or "none"
            raise InputError(f"only must name products that the engine takes, not {unknown[0]!r}; they are {listed}")
        reasons |= {output: "not asked for" for name, output in known.items() if name not in only}
    reasons |= refused or {}
    users: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        for name in tensors_taken(node):
            users[name].add(node.output[0])
    steps: list[EngineStep | HostStep] = []
    for host, engine in _levels(nodes, reasons):
        if host:
            steps.append(_host_step(graph, host, reasons, users))
        steps += [EngineStep(name=label_of(node), node=node) for node in engine]
    return tuple(steps)


def _levels(
    nodes: list[NodeProto], reasons: Mapping[str, str | None]
) -> Iterator[tuple[list[NodeProto], list[NodeProto]]]:
    """Nodes for the host, and products behind them, by how many products one after the other they wait for."""
    levels: dict[str, int] = {}  # of tensors
    grouped: defaultdict[int, tuple[list[NodeProto], list[NodeProto]]] = defaultdict(lambda: ([], []))
    for node in nodes:
        level = max((levels.get(name, 0) for name in tensors_taken(node)), default=0)
        for_engine = reasons[node.output[0]] is None
        grouped[level][for_engine].append(node)
        levels |= dict.fromkeys(node.output, level + for_engine)
    yield from (grouped[level] for level in sorted(grouped))


def _host_step(
    graph: Graph, nodes: list[NodeProto], reasons: Mapping[str, str | None], users: Mapping[str, set[str]]
) -> HostStep:
    own = {node.output[0] for node in nodes}
    made = dict.fromkeys(name for node in nodes for name in node.output if name)
    in_bodies = {name for node in nodes for each in all_nodes([node]) for name in each.output}
    taken = dict.fromkeys(name for node in nodes for name in tensors_taken(node))
    return HostStep(
        nodes=tuple(nodes),
        inputs=tuple(name for name in taken if name not in in_bodies and name not in graph.initializers),
        outputs=tuple(name for name in made if graph.is_output(name) or users.get(name, set()) - own),
        products={label_of(node): (node.op_type, str(reasons[node.output[0]])) for node in nodes if is_product(node)},
    )
