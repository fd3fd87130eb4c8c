"""Products of a lowered graph: the nodes that the engine takes, the reasons against others, and the request of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..onnx.catalogue import CATALOGUE
from ..onnx.graph import Graph
from ..onnx.operator import Work
from . import convolutions, matrix_products
from .operations import Array, Asked

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Known", "asked_of_engine", "computed_parameter", "in_float", "is_product", "known", "reason_for_host"]

_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


def is_product(node: NodeProto) -> bool:
    """True if `node` computes products, on the engine or not."""
    return CATALOGUE.of(node).is_product


def in_float(node: NodeProto) -> bool:
    """True if `node` computes products of other numbers than integers of 8 bits: see `left_in_float`."""
    operator = CATALOGUE.of(node)
    return operator.is_product and not operator.engine


def reason_for_host(graph: Graph, node: NodeProto, *, memory: bool) -> str | None:
    """Why `node` stays with the host; None where the engine, with `memory` or streams, takes it."""
    operator = CATALOGUE.of(node)
    if not operator.engine:
        return "it is computed in float" if operator.is_product else "not a product"
    given = operator.given(node)
    for name in (given.get(role, "") for role in ("a", "b", "y_zero_point")):
        found = graph.type_of(name)
        if name and found is not None and found not in _BYTES:
            return f"{name!r} must be of int8 or uint8 and is {found.name}"
    if operator.work is Work.CONVOLUTION:
        return convolutions.convolution_reason(graph, node, given["b"], memory=memory)
    return matrix_products.product_reason(node, given)


@dataclass(frozen=True, kw_only=True)
class Known:
    """Known before a model runs: whether B is, and the zero points of A and B."""

    b: bool
    a_zero_point: bool
    b_zero_point: bool


def known(node: NodeProto, constants: Collection[str]) -> Known:
    """The parameters of `node` that are known before the model runs, given the constant tensors `constants`."""
    given = CATALOGUE.of(node).given(node)

    def is_known(role: str) -> bool:
        return role in given and _is_known(given[role], constants)

    return Known(b=is_known("b"), a_zero_point=is_known("a_zero_point"), b_zero_point=is_known("b_zero_point"))


def computed_parameter(node: NodeProto, constants: Collection[str]) -> str | None:
    """The first scale, bias or zero point of Y of `node` that jobs must have before the model runs, and is computed.

    Where Y is not rescaled, scales and bias are the host's.
    """
    given = CATALOGUE.of(node).given(node)
    if "y_scale" not in given:
        return None
    names = (name for role, name in given.items() if role.endswith("_scale") or role in ("bias", "y_zero_point"))
    return next((name for name in names if not _is_known(name, constants)), None)


def _is_known(name: str, constants: Collection[str]) -> bool:
    """True if that input is constant or omitted."""
    return not name or name in constants


def asked_of_engine(node: NodeProto, tensors: Mapping[str, Array]) -> Asked:
    """The request of `node`, which the engine takes, for the arrays of its inputs."""
    operator = CATALOGUE.of(node)
    inputs = {role: tensors[name] if name else None for role, name in operator.given(node).items()}
    asked = convolutions.convolution if operator.work is Work.CONVOLUTION else matrix_products.matrix_product
    return asked(node, inputs)
