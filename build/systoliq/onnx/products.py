"""The matrix products of an ONNX model: each a layer, or listed with the reason why it cannot be one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from systoliq.golden.layer import MatMulLayer

from ..errors import InputError, expect, path_of
from .agreement import check_operator, check_rows
from .catalogue import CATALOGUE
from .graph import Graph
from .host import HostPart
from .model import read_model
from .node import NotTakenError, label, layer_name, takes_transposed_b
from .quantization import unquantized

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "Product",
    "is_model",
    "list_products",
    "onnx_layer",
    "onnx_product",
    "read_onnx",
    "read_products",
    "split_source",
]

_LISTED = 12  # products in an error; `systoliq layers` lists them all
_SOURCE = re.compile(r"(?P<path>.+?\.onnx)(#(?P<node>.*))?", re.IGNORECASE | re.DOTALL)


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


def is_model(source: str) -> bool:
    """True if SOURCE has the form of a model: FILE.onnx or FILE.onnx#NODE."""
    return _SOURCE.fullmatch(source) is not None


def split_source(source: str) -> tuple[Path, str | None]:
    """The file and the node that FILE.onnx#NODE names; InputError for any other form."""
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise InputError(f"SOURCE must be FILE.onnx or FILE.onnx#NODE, not {source!r}")
    return Path(match["path"]), match["node"]


def onnx_layer(source: str) -> tuple[MatMulLayer, str]:
    """The layer that FILE.onnx#NODE names (FILE.onnx is enough where there is one), and where it comes from."""
    layer, origin, _ = onnx_product(source)
    return layer, origin


def onnx_product(source: str) -> tuple[MatMulLayer, str, HostPart | None]:
    """Like `onnx_layer`, with the host's part around int32 sums."""
    path, node = split_source(source)
    graph = Graph(read_model(path), path.parent)
    if (reason := unquantized(graph)) is not None:
        raise InputError(f"{path}: {reason}")
    products = _some(path, graph)
    if node is None:
        product = _only(path, products)
    else:
        named = [product for product in products if product.name == node]
        if not named:
            known = _listed([repr(product.name) for product in products], path, separator=", ")
            raise InputError(f"{path}: must have a matrix product named {node!r}; it has {known}")
        product = named[0]
    if product.layer is None:
        raise InputError(f"{path}: {product.operator} {product.name!r} cannot be a layer: {product.reason}")
    return product.layer, f"{product.operator} {product.name!r} ({product.pattern}) of {path.name}", product.host


def read_onnx(path: str | Path, node: str | None = None) -> MatMulLayer:
    """Return the layer of the product `node` in the ONNX model at `path`; `node` is optional if there is only one.

    Raises InputError for an invalid model, an unknown name, or a product that cannot be a layer.
    """
    path_of("path", path)
    expect("node", node, str, type(None))
    layer, _ = onnx_layer(f"{path}" if node is None else f"{path}#{node}")
    return layer


def read_products(path: str | Path) -> list[Product]:
    """Return the matrix products of the ONNX model in the file `path`, in the order of the model.

    Raises InputError if the model is invalid or has no matrix product. External data must be next to the file.
    """
    path = path_of("path", path)
    return _some(path, Graph(read_model(path), path.parent))


def list_products(path: str | Path) -> list[Product]:
    """Like `read_products`, with an empty list for a model without products."""
    path = Path(path)
    return _all(Graph(read_model(path), path.parent))


def _some(path: Path, graph: Graph) -> list[Product]:
    """The products of `graph`, read from the file `path`, at least one."""
    found = _all(graph)
    if not found:
        kinds = sorted({node.op_type for node in graph.graph.node})
        raise InputError(
            f"{path}: must have a matrix product (MatMul, Gemm, QLinearMatMul, QGemm, MatMulInteger); its nodes are "
            f"{', '.join(kinds) or 'none'}"
        )
    return found


def _all(graph: Graph) -> list[Product]:
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


def _only(path: Path, products: list[Product]) -> Product:
    """The one product that is a layer; the error lists what there is."""
    taken = [product for product in products if product.layer is not None]
    if len(taken) == 1:
        return taken[0]
    if taken:
        known = _listed([f"{product.name!r} ({product.shape})" for product in taken], path, separator=", ")
        raise InputError(f"{path}: SOURCE must name one of its {len(taken)} layers, as {path}#NODE: {known}")
    known = _listed([f"{product.operator} {product.name!r}: {product.reason}" for product in products], path)
    raise InputError(f"{path}: none of its matrix products can be a layer: {known}")


def _listed(items: list[str], path: Path, separator: str = "; ") -> str:
    more = len(items) - _LISTED
    return separator.join(items[:_LISTED]) + (f" and {more} more: systoliq layers {path}" if more > 0 else "")
