"""Workload of an engine: the matrix products of a CSV file, of an ONNX model, or of a network that systoliq knows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from systoliq.golden.network import Network
from systoliq.golden.network.convolution import Convolution
from systoliq.golden.network.dense import Dense
from systoliq.hw.engine.config import LARGEST

from ....design.engine.workloads import OWN, Product, read_workloads
from ....errors import InputError
from ....onnx import Model
from ....onnx.source import is_model

__all__ = ["Workload", "open_workload"]

_LISTED = 12  # networks in an error


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Products [m, k] x [k, n] that an engine computes one after the other; a pass through all is an inference."""

    name: str
    products: tuple[Product, ...]

    def __post_init__(self) -> None:
        if not self.products:
            raise InputError(f"{self.name}: must hold at least one product")
        for product in self.products:
            for name, least, most in (("m", 1, None), ("k", 1, LARGEST), ("n", 1, None), ("count", 1, None)):
                value = getattr(product, name)
                if value < least or (most is not None and value > most):
                    limit = f"{least} to {most}" if most is not None else f"at least {least}"
                    shown = name if name == "count" else name.upper()
                    raise InputError(f"{self.name}: {shown} must be {limit}, not {value}")

    @property
    def count(self) -> int:
        """Products of a pass."""
        return sum(product.count for product in self.products)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of a pass."""
        return sum(product.count * product.m * product.k * product.n for product in self.products)


def open_workload(text: str) -> Workload:
    """The workload that `text` names.

    FILE.csv has columns workload, M, K, N and count; FILE.csv#NAME is the network NAME of it, and FILE.csv all of them.
    MODEL.onnx has its products, convolutions as windows of pixels; its batch is 1. A NAME alone is one of `OWN`.
    """
    if is_model(text):
        return _of_model(text)
    path, mark, network = text.partition(".csv#")
    if mark or text.endswith(".csv") or Path(text).exists():
        path = path + ".csv" if mark else text
        try:
            products = read_workloads(Path(path))
        except ValueError as error:
            raise InputError(str(error)) from error
        return _of_network(products, network, f"{path}: must hold") if mark else _named(Path(path).name, products)
    return _of_network(OWN, text, "workload must be FILE.csv, FILE.csv#NETWORK, MODEL.onnx, or")


def _named(name: str, products: list[Product]) -> Workload:
    networks = dict.fromkeys(product.network for product in products)
    return Workload(name=next(iter(networks)) if len(networks) == 1 else name, products=tuple(products))


def _of_network(products: list[Product] | tuple[Product, ...], network: str, expected: str) -> Workload:
    networks = list(dict.fromkeys(product.network for product in products))
    if network not in networks:
        known = ", ".join(networks[:_LISTED]) + (f" and {len(networks) - _LISTED} more" if networks[_LISTED:] else "")
        raise InputError(f"{expected} one of {known}, not {network!r}")
    return Workload(name=network, products=tuple(each for each in products if each.network == network))


def _of_model(text: str) -> Workload:
    path, _, node = text.partition(".onnx#")
    if node:
        raise InputError(f"workload must be the model as a whole, {path}.onnx, not {text!r}")
    name = Path(text).stem
    model = Model.open(text)
    network = model.reading.network
    shapes = _of_stages(network) if network is not None else _of_products(model)
    if not shapes:
        raise InputError(f"{text}: must have a product that the engine supports")
    products = [Product(network=name, m=m, k=k, n=n, count=count) for (m, k, n), count in shapes.items()]
    return Workload(name=name, products=tuple(products))


def _of_stages(network: Network) -> Counter[tuple[int, int, int]]:
    """Shapes of the products of a network's stages. Depthwise convolutions are no engine's: see docs/run.md."""
    shapes: Counter[tuple[int, int, int]] = Counter()
    for node in network.nodes:
        if isinstance(node, Convolution) and not node.depthwise:
            batch, channels, *image = node.output.shape
            rows = batch * image[0] * image[1]
            shapes[rows, node.layer.k, channels // node.groups] += node.groups
        elif isinstance(node, Dense):
            *sizes, columns = node.output.shape
            shapes[math.prod(sizes), node.layer.k, columns] += 1
    return shapes


def _of_products(model: Model) -> Counter[tuple[int, int, int]]:
    """Shapes of a model's matrix products where it is no network as a whole: all of them must be known."""
    shapes: Counter[tuple[int, int, int]] = Counter()
    for product in model.checked_products():
        sizes = product.m, product.k, product.n
        if not all(size.isdigit() for size in sizes):
            raise InputError(
                f"{model.path}: sizes of {product.name!r} must be known, not {product.shape}: give them as FILE.csv, "
                "with columns workload, M, K, N and count"
            )
        m, k, n = (int(size) for size in sizes)
        shapes[m, k, n] += 1
    return shapes
