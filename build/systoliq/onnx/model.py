"""Model: an ONNX file, parsed once, as a network, as its matrix products, and as a graph."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ..errors import InputError, expect, path_of
from .bias_scales import bias_notes_of
from .following import following_layers
from .graph import Graph
from .host import HostPart
from .model_file import read_model
from .network.network import Reading, reading_of, with_batch
from .products import Product, products_of
from .quantization import unquantized
from .scales import scale_notes_of
from .scope import once

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Model", "read_network", "read_onnx", "read_products"]

_LISTED = 12  # products in an error; `systoliq layers` lists them all


class Model:
    """The ONNX model in the file `path`, parsed once; `open` also shares it within a command of the command line.

    External data must be next to the file. Raises InputError if the model is invalid.

    >>> model = Model.open("model.onnx")
    >>> network = model.network()
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path_of("path", path)
        self.proto: ModelProto = read_model(self.path)

    def __repr__(self) -> str:
        return f"Model({str(self.path)[-100:]!r}, {len(self.proto.graph.node)} nodes)"

    @classmethod
    def open(cls, path: str | Path) -> Model:
        """Return the model in the file `path`; in a command, the same object as long as the file does not change."""
        path = path_of("path", path)
        if not path.is_file():
            return cls(path)  # for its error
        found = path.stat()
        key = str(path), found.st_ino, found.st_mtime_ns, found.st_size
        return cast(Model, once(key, lambda: cls(path)))

    @cached_property
    def graph(self) -> Graph:
        """The graph with the shapes that the file states."""
        return Graph(self.proto, self.path.parent)

    @cached_property
    def unquantized(self) -> str | None:
        """Why the model has nothing for integer hardware; None if it may have something."""
        return unquantized(self.graph)

    @cached_property
    def reading(self) -> Reading:
        """The model as a network, with a verdict on each node. Its batch counts as 1 if it has no number."""
        proto = with_batch(self.proto)
        return reading_of(self.path, self.graph if proto is self.proto else Graph(proto, self.path.parent))

    def network(self) -> Network:
        """The whole model as a network; InputError with the reasons if it cannot be one."""
        return self.reading.checked()

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """The matrix products, in the order of the model, each a layer or with the reason why it is none."""
        return tuple(products_of(self.graph))

    def layer(self, node: str | None = None) -> tuple[MatMulLayer, str, HostPart | None]:
        """The layer of the product `node`, or the only one, where it comes from, and the host's part around int32 sums.

        Raises InputError if there is no product of that name, or it cannot be a layer.
        """
        product = self._product(node)
        if product.layer is None:
            raise InputError(f"{self.path}: {product.operator} {product.name!r} cannot be a layer: {product.reason}")
        origin = f"{product.operator} {product.name!r} ({product.pattern}) of {self.path.name}"
        return product.layer, origin, product.host

    def _product(self, node: str | None) -> Product:
        if self.unquantized is not None:
            raise InputError(f"{self.path}: {self.unquantized}")
        products = self.checked_products()
        if node is None:
            return self._only(products)
        named = [product for product in products if product.name == node]
        if not named:
            known = self._listed([repr(product.name) for product in products], separator=", ")
            raise InputError(f"{self.path}: must have a matrix product named {node!r}; it has {known}")
        return named[0]

    def checked_products(self) -> tuple[Product, ...]:
        """The matrix products; InputError if there is none."""
        if not self.products:
            kinds = sorted({node.op_type for node in self.graph.graph.node})
            raise InputError(
                f"{self.path}: must have a matrix product (MatMul, Gemm, QLinearMatMul, QGemm, MatMulInteger); its "
                f"nodes are {', '.join(kinds) or 'none'}"
            )
        return self.products

    def scale_notes(self) -> list[str]:
        """A note for each constant scale that is not positive and finite."""
        return scale_notes_of(self.graph)

    def bias_notes(self, node: str | None = None) -> list[str]:
        """A note for each product, or the product `node`, with an int32 bias whose scale onnxruntime ignores where it
        fuses the product.
        """
        return bias_notes_of(self.graph, node)

    def notes(self) -> list[str]:
        """All notes for the user."""
        return [*self.scale_notes(), *self.bias_notes()]

    def following(self, node: str | None) -> list[str]:
        """Names of the layers that the outputs of the layer `node`, or of the only one, go into, at any depth."""
        return following_layers(self.graph, self._product(None).name if node is None else node)

    def _only(self, products: tuple[Product, ...]) -> Product:
        """The one product that is a layer; the error lists what there is."""
        taken = [product for product in products if product.layer is not None]
        if len(taken) == 1:
            return taken[0]
        if taken:
            known = self._listed([f"{product.name!r} ({product.shape})" for product in taken], separator=", ")
            raise InputError(
                f"{self.path}: SOURCE must name one of its {len(taken)} layers, as {self.path}#NODE: {known}"
            )
        known = self._listed([f"{product.operator} {product.name!r}: {product.reason}" for product in products])
        raise InputError(f"{self.path}: none of its matrix products can be a layer: {known}")

    def _listed(self, items: list[str], separator: str = "; ") -> str:
        more = len(items) - _LISTED
        return separator.join(items[:_LISTED]) + (f" and {more} more: systoliq layers {self.path}" if more > 0 else "")


def read_network(path: str | Path) -> Network:
    """Return the ONNX model in the file `path` as a network; raise InputError with the reasons if it cannot be one."""
    return Model.open(path).network()


def read_onnx(path: str | Path, node: str | None = None) -> MatMulLayer:
    """Return the layer of the product `node` in the ONNX model at `path`; `node` is optional if there is only one.

    Raises InputError for an invalid model, an unknown name, or a product that cannot be a layer.
    """
    expect("node", node, str, type(None))
    return Model.open(path).layer(node)[0]


def read_products(path: str | Path) -> list[Product]:
    """Return the matrix products of the ONNX model in the file `path`, in the order of the model.

    Raises InputError if the model is invalid or has no matrix product. External data must be next to the file.
    """
    return list(Model.open(path).checked_products())
