"""Padding: convolutions that only pad become the padding of the convolutions and pools behind them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from systoliq.golden.network import Convolution, MaxPool, Move, Node

__all__ = ["merged"]


def merged(nodes: Sequence[Node], kept: Collection[str]) -> dict[Node, Node | None]:
    """Return replacements for the `nodes` that change; None for a padding. Tensors named in `kept` stay."""
    changed: dict[Node, Node | None] = {}
    for node in nodes:
        padding = changed.get(node, node)
        if not isinstance(padding, Convolution) or not _only_pads(padding) or node.output.name in kept:
            continue
        takers = [each for each in nodes if any(x.name == node.output.name for x in each.inputs)]
        idle = [each for each in takers if isinstance(each, Move) and _is_idle(each, nodes, kept)]
        stages = [each for each in takers if each not in idle]
        padded = [_with_pads(changed.get(each, each), padding) for each in stages]
        if stages and None not in padded:
            changed |= dict.fromkeys([node, *idle]) | dict(zip(stages, padded, strict=True))
    return changed


def _only_pads(node: Convolution) -> bool:
    (x,), layer = node.inputs, node.layer
    same = layer.bias is None and (layer.b == 1).all() and (layer.b_scale == 1).all() and not layer.b_zero_point.any()
    return node.window.kernel == node.window.strides == (1, 1) and same and x.counts_as(node.output)


def _is_idle(node: Node, nodes: Sequence[Node], kept: Collection[str]) -> bool:
    name = node.output.name
    return name not in kept and not any(x.name == name for each in nodes for x in each.inputs)


def _with_pads(node: Node | None, padding: Convolution) -> Node | None:
    """`node` on the input of `padding`; None where its own padding is not what `padding` puts there."""
    if not isinstance(node, Convolution | MaxPool):
        return None
    x, source = node.inputs[0], padding.inputs[0]
    if source.zero_point != (x.zero_point if isinstance(node, Convolution) else x.format.min):
        return None
    top, left, bottom, right = (a + b for a, b in zip(node.window.pads, padding.window.pads, strict=True))
    window = dataclasses.replace(node.window, pads=(top, left, bottom, right))
    return dataclasses.replace(node, inputs=(x.replace(name=source.name, shape=source.shape),), window=window)
