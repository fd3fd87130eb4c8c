"""The matrix products of an ONNX model: each a layer, or listed with the reason why it cannot be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from systoliq.golden.layer import MatMulLayer

from .agreement import check_operator, check_rows
from .catalogue import CATALOGUE
from .graph import Graph
from .host import HostPart
from .node import NotTakenError, label, layer_name, takes_transposed_b

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Product", "products_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Product:
    """A matrix product of a model, [M, K] x [K, N]: its `layer`, or the `reason` why it cannot be a layer.

    `name` is the node's name, or its output's if the node's name is missing or not unique. `m`, `k` and `n` are sizes,
    names, or "?" if the model does not state them. `host` describes the host's steps around int32 sums.
    """

    name: str
    operator: str
    pattern: str
    m: str
    k: str
    n: str
    layer: MatMulLayer | None
    reason: str | None
    host: HostPart | None = None

    def __repr__(self) -> str:
        taken = "a layer" if self.reason is None else f"refused: {self.reason[:80]}"
        return f"Product({self.name[:60]!r}, {self.operator} {self.shape}, {taken})"

    @property
    def shape(self) -> str:
        """M x K x N."""
        return f"{self.m} x {self.k} x {self.n}"


def products_of(graph: Graph) -> list[Product]:
    """The matrix products of `graph`, in its order."""
    nodes = list(_products(graph.graph.node))
    names = Counter(node.name for node, _ in nodes)
    outputs = {node.output[0]: node for node, _ in nodes}

    def name_of(node: NodeProto) -> str:
        alone = names[node.name] == 1 and outputs.get(node.name, node) is node
        return node.name if alone and node.name else node.output[0]

    return [_product(graph, node, name_of(node), inside) for node, inside in nodes]


def _products(
    nodes: Iterable[NodeProto], inside: NodeProto | None = None
) -> Iterator[tuple[NodeProto, NodeProto | None]]:
    """Products among `nodes`, and in the bodies of If, Loop and Scan, with the node that they are inside of."""
    for node in nodes:
        if CATALOGUE.of(node).layer is not None:
            yield node, inside
        for given in node.attribute:
            for body in (*([given.g] if given.HasField("g") else []), *given.graphs):
                yield from _products(body.node, inside or node)


def _product(graph: Graph, node: NodeProto, name: str, inside: NodeProto | None) -> Product:
    operator = CATALOGUE.of(node)
    layer, host, reason = None, None, operator.layer if isinstance(operator.layer, str) else None
    if inside is not None:
        reason = f"it lies in the body of {label(inside)}; only products of the main graph are taken"
    elif callable(operator.layer):
        try:
            operator.check_inputs(node)
            fields = operator.fields(graph, node)
            if operator.on_integers:
                check_operator(graph, node, operator.place("b") or 1, fields)
            host = fields.pop("host", None)
            made = _made(MatMulLayer(name=layer_name(name), **fields))
            check_rows(graph, node, made.k)
            layer = made
        except (NotTakenError, TypeError, ValueError) as error:
            reason = str(error)
    m, k, n = ("?", "?", "?") if inside is not None else _shape(graph, node, operator.place("b") or 1)
    if layer is not None:
        k, n = str(layer.k), str(layer.n)
    pattern = "" if not callable(operator.layer) else "QOperator" if operator.on_integers else "QDQ"
    return Product(
        name=name, operator=node.op_type, pattern=pattern, m=m, k=k, n=n, layer=layer, reason=reason, host=host
    )


def _made(layer: MatMulLayer) -> MatMulLayer:
    """`layer`, or a ValueError where hardware cannot take its scales."""
    _ = layer.canonical
    return layer


def _shape(graph: Graph, node: NodeProto, b_input: int) -> tuple[str, str, str]:
    """M, K and N by the model's shapes; M is the product of all that comes before K."""
    if len(node.input) <= b_input:
        return "?", "?", "?"  # of an operator that onnx does not check
    a, b = graph.shape(node.input[0]), graph.shape(node.input[b_input])
    m = k = n = "?"
    if a is not None and a:
        k = str(a[-1] or "?")
        sizes = [size for size in a[:-1] if isinstance(size, int)]
        total = 1
        for size in sizes:
            total *= size
        names = [str(size or "?") for size in a[:-1] if not isinstance(size, int)]
        m = "*".join([*([str(total)] if total != 1 or not names else []), *names])
    if b is not None and len(b) >= 2:
        rows, columns = (b[-1], b[-2]) if takes_transposed_b(node) else (b[-2], b[-1])
        k, n = (str(rows or "?") if k == "?" else k), str(columns or "?")
    return m, k, n
