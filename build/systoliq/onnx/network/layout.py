"""Layout of a network's ends: images [batch, rows, columns, channels] lie in memory as hardware streams them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Dense, Network, Node, Tensor
from systoliq.hw.network.rate import is_stage

__all__ = ["with_layout"]

_Places = npt.NDArray[Any]


def with_layout(net: Network) -> Network:
    """`net` with `channels_last` set for the inputs and outputs that stages take and make in that order alone."""
    last = {
        tensor.name
        for tensor in net.inputs
        if len(tensor.shape) == 4 and not _fits_stages(net, tensor) and _fits_stages(net, _turned(tensor))
    }
    last |= {
        tensor.name
        for tensor in net.outputs
        if len(tensor.shape) == 4 and not net.consumers(tensor.name) and _comes_turned(net, tensor)
    }
    if not last:
        return net

    def laid(tensor: Tensor) -> Tensor:
        return _turned(tensor) if tensor.name in last else tensor

    def node_laid(node: Node) -> Node:
        return dataclasses.replace(node, inputs=tuple(map(laid, node.inputs)), output=laid(node.output))

    return dataclasses.replace(
        net,
        sources=tuple(dataclasses.replace(each, tensor=laid(each.tensor)) for each in net.sources),
        nodes=tuple(map(node_laid, net.nodes)),
        outputs=tuple(map(laid, net.outputs)),
    )


def _turned(tensor: Tensor) -> Tensor:
    return tensor.replace(channels_last=True)


def _fits_stages(net: Network, tensor: Tensor) -> bool:
    """Whether all stages that take the input `tensor`, behind moves at most, get its stream in their own order. A dense
    layer takes any.
    """
    taken = [(x, places) for node, x, places in _takers(net, tensor) if not isinstance(node, Dense)]
    return all(_in_order(x, places) for x, places in taken)


def _takers(net: Network, tensor: Tensor) -> Iterator[tuple[Node, Tensor, _Places]]:
    """The stages behind `tensor`, with the input that it is to each, and the place in its stream of each element."""
    todo = [(tensor.name, _streamed(tensor))]
    while todo:
        name, places = todo.pop()
        for node in net.consumers(name):
            if is_stage(node):
                yield node, next(x for x in node.inputs if x.name == name), places
            else:
                todo.append((node.output.name, node.apply(places)))


def _comes_turned(net: Network, output: Tensor) -> bool:
    """Whether the stream that is `output`, behind moves at most, has its elements in their order, and not in raster
    order.
    """
    makers, moves = {node.output.name: node for node in net.nodes}, []
    node = makers.get(output.name)
    while node is not None and not is_stage(node):
        moves.append(node)
        node = makers.get(node.inputs[0].name)
    if node is None or not moves:
        return False
    places = _streamed(node.output)
    for move in reversed(moves):
        places = move.apply(places)
    return not _in_order(output, places) and _in_order(_turned(output), places)


def _streamed(tensor: Tensor) -> _Places:
    """For each element of an image of `tensor` its place in the stream, as an array of the tensor's shape."""
    return tensor.unraster(np.arange(tensor.pixels * tensor.channels).reshape(1, tensor.pixels, tensor.channels))


def _in_order(tensor: Tensor, places: _Places) -> bool:
    return bool((np.diff(tensor.raster(places).reshape(-1)) == 1).all())
