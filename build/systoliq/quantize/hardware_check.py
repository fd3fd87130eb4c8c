"""Check of a quantized model: whether it is one network or layer in hardware, else which float nodes are in the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..design.network.reasons import reasons_against
from ..onnx import Model
from ..onnx.node import label
from .float_model import FloatModel

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["HardwareCheck", "check_hardware"]

_QUOTED = re.compile(r"'([^']+)'")
_SUFFIX = re.compile(r"_(QuantizeLinear|DequantizeLinear|quantized)(_\w+)?$")


@dataclass(frozen=True, kw_only=True)
class HardwareCheck:
    """Result of the hardware check of a model: `whole` is its kind of hardware; otherwise `reasons` say why there is
    none. `whole` says what it becomes; else `reasons` say what is in the way.
    """

    whole: str
    reasons: tuple[str, ...]


def check_hardware(path: Path, model: FloatModel) -> HardwareCheck:
    """Return whether `systoliq emit` takes the quantized model in the file `path` whole.

    The reasons name nodes of the float `model` that it was made from.
    """
    quantized = Model.open(path)
    reading = quantized.reading
    if reading.lone and reading.unquantized is None:
        reasons = tuple(product.reason or "" for product in quantized.products if product.layer is None)
        return HardwareCheck(whole="" if reasons else "one layer", reasons=_named(reasons, model))
    found = reading.problems or (() if reading.network is None else reasons_against(reading.network))
    stages = 0 if reading.network is None else len(reading.network.nodes)
    return HardwareCheck(whole="" if found else f"one network of {stages} stages", reasons=_named(found, model))


def _named(reasons: tuple[str, ...], model: FloatModel) -> tuple[str, ...]:
    """Return the reasons, each with the float nodes that it does not name itself."""
    return tuple(" ".join(_with_nodes(reason, model).split()) for reason in reasons)


def _with_nodes(reason: str, model: FloatModel) -> str:
    nodes = {label(node): node for node in model.graph.graph.node}
    quoted = _QUOTED.findall(reason)
    own = {node.name or node.output[0] for node in nodes.values()}
    if not quoted or any(name in own for name in quoted):
        return reason
    found = next((each for name in quoted for each in _origins(name, list(nodes.values()))), None)
    return reason if found is None else f"{reason} (in {model.path.name}: {label(found)})"


def _origins(name: str, nodes: list[NodeProto]) -> Iterator[NodeProto]:
    """Yield the float nodes that a node or tensor `name` of the quantized model comes from: the quantizer adds suffixes
    to tensors, and its preparation adds names of fusions to nodes.
    """
    tensor = _SUFFIX.sub("", name)
    for node in nodes:
        if tensor in node.output or (node.name and name.startswith(f"{node.name}/")):
            yield node
