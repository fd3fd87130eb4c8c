"""Narrowing of a network: the same operators with fewer bits, from the model's own integers and scales.

A narrower activation counts in steps 2^shift times as large, so that a scale that is a power of two stays one; by
default shift is the bits that are lost, which keeps its range. Narrower weights are symmetric with a scale for each
column, the best of several by squared error; where all scales of a layer are powers of two, among powers of two.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import INT32, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network, Tensor

from ..requantize_layer import quantize_weights

__all__ = ["Widths", "activations_of", "narrow_tensor", "narrowed", "products_of"]

_TAKES_NARROW = (network.Convolution, network.Dense, network.MaxPool, network.Move)
_STEPS = (1, 0, -1, -2, -3)  # powers of two by which a scale may exceed that which keeps the range


@dataclass(frozen=True, kw_only=True)
class Widths:
    """Bits of `weights` by the names of layers, and of `activations` by the names of tensors; others keep theirs.

    `shifts`: of an activation's scale, in powers of two, where it is not the bits that it loses.
    """

    weights: Mapping[str, int] = field(default_factory=dict)
    activations: Mapping[str, int] = field(default_factory=dict)
    shifts: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal widths."""
        return tuple(tuple(sorted(each.items())) for each in (self.weights, self.activations, self.shifts))


def products_of(net: Network) -> list[network.Convolution | network.Dense]:
    """The layers: nodes with weights."""
    return [node for node in net.nodes if isinstance(node, network.Convolution | network.Dense)]


def activations_of(net: Network) -> list[tuple[str, ...]]:
    """Tensors that can be narrowed, those that must share a width together, in the network's order.

    Operators that are tables of all bytes (sums, functions, averages, ...) have inputs and outputs of 8 bits, and so
    have the network's outputs; a MaxPool or a move has the width of its input.
    """
    group = {tensor.name: tensor.name for tensor in net.inputs}
    fixed = {tensor.name for tensor in net.outputs}
    for node in net.nodes:
        names = [tensor.name for tensor in node.inputs if tensor.value is None]
        same = isinstance(node, network.MaxPool | network.Move)
        group[node.output.name] = group[names[0]] if same else node.output.name
        if not isinstance(node, _TAKES_NARROW):
            fixed |= {node.output.name, *names}
    fixed_groups = {group[name] for name in fixed}
    found: dict[str, list[str]] = {}
    for name, first in group.items():
        if first not in fixed_groups:
            found.setdefault(first, []).append(name)
    return [tuple(names) for names in found.values()]


def narrow_tensor(tensor: Tensor, bits: int, shift: int | None = None) -> Tensor:
    """`tensor` in `bits` bits and steps 2^shift times as large; its zero point as far up in its range as it was."""
    shape = IntFormat(bits, tensor.format.signed)
    share = (tensor.zero_point - tensor.format.min) / (tensor.format.max - tensor.format.min)
    zero_point = round(shape.min + share * (shape.max - shape.min))
    lost = tensor.format.bits - bits
    scale = np.float32(np.ldexp(tensor.scale, lost if shift is None else shift))
    return tensor.replace(format=shape, scale=scale, zero_point=zero_point)


def narrowed(net: Network, widths: Widths) -> Network:
    """`net` at other widths: see the module. Raises ValueError for tensors and layers that cannot have them."""
    unknown = set(widths.weights) - {node.name for node in products_of(net)}
    unknown |= set(widths.activations) - {name for names in activations_of(net) for name in names}
    if unknown:
        raise ValueError(f"widths must be of layers, or of tensors that can be narrowed, not of {sorted(unknown)[0]!r}")
    return dataclasses.replace(
        net,
        sources=tuple(dataclasses.replace(each, tensor=_tensor(each.tensor, widths)) for each in net.sources),
        nodes=tuple(_node(node, widths) for node in net.nodes),
        outputs=tuple(_tensor(each, widths) for each in net.outputs),
    )


def _tensor(tensor: Tensor, widths: Widths) -> Tensor:
    bits = widths.activations.get(tensor.name, tensor.format.bits)
    if bits == tensor.format.bits:
        return tensor
    return narrow_tensor(tensor, bits, widths.shifts.get(tensor.name))


def _node(node: network.Node, widths: Widths) -> network.Node:
    inputs = tuple(_tensor(tensor, widths) for tensor in node.inputs)
    output = _tensor(node.output, widths)
    own = widths.weights.get(node.name)
    same = all(new is old for new, old in zip((*inputs, output), (*node.inputs, node.output), strict=True))
    if same and own is None:
        return node
    changes: dict[str, Any] = {"inputs": inputs, "output": output}
    if isinstance(node, network.Convolution | network.Dense):
        changes["layer"] = _layer(node, own, inputs[0], output)
    return dataclasses.replace(node, **changes)


def _layer(node: network.Convolution | network.Dense, b_bits: int | None, x: Tensor, y: Tensor) -> MatMulLayer:
    """The layer of `node` with weights of `b_bits`, from `x` to `y`."""
    layer = node.layer
    b = {} if b_bits is None else _weights(layer, b_bits)
    changes: dict[str, Any] = dict(b)
    for letter, old, new in (("a", node.inputs[0], x), ("y", node.output, y)):
        if new is not old:
            times = new.scale / old.scale  # a power of two
            changes[f"{letter}_format"] = new.format
            changes[f"{letter}_scale"] = np.float32(getattr(layer, f"{letter}_scale") * times)
            changes[f"{letter}_zero_point"] = new.zero_point
    if layer.bias is not None and (b or "a_scale" in changes):
        a_scale, b_scale = changes.get("a_scale", layer.a_scale), b.get("b_scale", layer.b_scale)
        real = layer.bias * float(layer.a_scale) * layer.b_scale.astype(np.float64)
        sums = np.rint(real / (float(a_scale) * b_scale.astype(np.float64)))
        changes["bias"] = np.clip(sums, INT32.min, INT32.max).astype(np.int32)
    return layer.replace(**changes)


@functools.lru_cache(maxsize=512)
def _weights(layer: MatMulLayer, bits: int) -> dict[str, Any]:
    """The fields of `layer` that narrower weights change."""
    own = layer.b_format
    if not isinstance(own, IntFormat) or bits > own.bits:
        raise ValueError(f"weights must have at most {own.bits} bits, the layer's own, not {bits}")
    if bits == own.bits:
        return {}
    form = IntFormat(bits, own.signed)
    real = layer.centered_b * layer.b_scale.astype(np.float64)
    scales = []
    if (np.frexp(layer.b_scale)[0] == 0.5).all():
        scales = [np.ldexp(layer.b_scale, own.bits - bits + step).astype(np.float32) for step in _STEPS]
    b, b_scale = quantize_weights(real, form, scales)
    zero_point = 0 if form.signed else 1 << (bits - 1)
    return {"b": b, "b_scale": b_scale, "b_zero_point": np.full(layer.n, zero_point, form.dtype), "b_format": form}
