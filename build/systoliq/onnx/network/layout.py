"""Layout of tensors at a network's ends and between Transposes: images [batch, rows, columns, channels] come in the
order in which they lie in memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import (
    Addition,
    Dense,
    LayerNormalization,
    MatrixProduct,
    Move,
    Multiplication,
    Network,
    Node,
    RealPair,
    Reshape,
    Softmax,
    Table,
    Tensor,
    Transpose,
)

from .reorders import stays
from .rows import joins_of_images

__all__ = ["with_layout"]

_Places = npt.NDArray[Any]
_OF_ROWS = (Dense, LayerNormalization, MatrixProduct, Softmax)
_OF_ELEMENTS = (Addition, Multiplication, RealPair, Table)
_TO_LAST, _FROM_LAST = (0, 2, 3, 1), (0, 3, 1, 2)  # of an image's channels


def with_layout(net: Network) -> Network:
    """`net` with `channels_last` set for the inputs and outputs that stages take and make in that order alone, and for
    images on which operators on single elements work between Transposes; and `channels_second` for tensors of three
    dimensions that are images of one row, or of all rows one after the other.
    """
    second = _rows(net)
    net = dataclasses.replace(net, nodes=tuple(joins_of_images(net.nodes, second)))
    constants = {x.name for node in net.nodes for x in node.inputs if x.value is not None}  # images of one row by now
    net = _laid_out(net, second - constants, "channels_second")
    net = _laid_out(net, _turned_elements(net), "channels_last")
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
    return _laid_out(net, last, "channels_last")


def _laid_out(net: Network, names: set[str], layout: str) -> Network:
    """`net` with the field `layout` set in the tensors of these `names`."""
    if not names:
        return net

    def laid(tensor: Tensor) -> Tensor:
        return tensor.replace(**{layout: True}) if tensor.name in names else tensor

    def node_laid(node: Node) -> Node:
        return dataclasses.replace(node, inputs=tuple(map(laid, node.inputs)), output=laid(node.output))

    return dataclasses.replace(
        net,
        sources=tuple(dataclasses.replace(each, tensor=laid(each.tensor)) for each in net.sources),
        nodes=tuple(map(node_laid, net.nodes)),
        outputs=tuple(map(laid, net.outputs)),
    )


def _rows(net: Network) -> set[str]:
    """Tensors [batch, channels, length] whose elements come in the order of an image that they are reshaped to or from,
    and those that operators on each element make of them or take with them. Operators on whole rows, whose elements are
    the last dimension, take and make no such, nor do those that repeat elements along another dimension.
    """
    reshaped = {name for node in net.nodes if isinstance(node, Move) for name in _reshaped_row(node)}
    whole = {
        name for node in net.nodes if isinstance(node, _OF_ROWS) or _is_of_ranks(node) for name in _of_rank(node, 3)
    }
    joined = [_of_rank(node, 3) for node in net.nodes if not isinstance(node, (Move, *_OF_ROWS))]
    return _spread(reshaped, joined) - _spread(whole, joined)


def _is_of_ranks(node: Node) -> bool:
    """True if `node` is on elements of tensors that do not all have as many dimensions."""
    ranks = {len(x.shape) for x in (*node.inputs, node.output) if x.value is None}
    return isinstance(node, _OF_ELEMENTS) and len(ranks) > 1


def _turned_elements(net: Network) -> set[str]:
    """Images [batch, rows, columns, channels] that a Transpose makes of an image or makes an image of, and those that
    operators on single elements make of them or take with them, constants too. No other operator may take or make one.
    """
    turned = {name for node in net.nodes if isinstance(node, Move) for name in _turned_side(node)}
    fixed = {name for node in net.nodes if not isinstance(node, (Move, *_OF_ELEMENTS)) for name in _of_rank(node, 4)}
    joined = [_of_rank(node, 4) for node in net.nodes if isinstance(node, _OF_ELEMENTS)]
    ends = {tensor.name for tensor in (*net.inputs, *net.outputs)}
    return _spread(turned & set().union(*joined), joined) - _spread(fixed | ends, joined)


def _turned_side(node: Move) -> set[str]:
    (x,), y = node.inputs, node.output
    sides = {Transpose(_TO_LAST): y, Transpose(_FROM_LAST): x}
    return {sides[node.movement].name} if isinstance(node.movement, Transpose) and node.movement in sides else set()


def _of_rank(node: Node, rank: int) -> set[str]:
    """The inputs and the output of `rank` dimensions."""
    return {each.name for each in (*node.inputs, node.output) if len(each.shape) == rank}


def _spread(names: set[str], joined: list[set[str]]) -> set[str]:
    """`names`, with all names of the sets `joined` that share a name with them."""
    found, before = set(names), -1
    while len(found) > before:
        before = len(found)
        found = found.union(*(each for each in joined if each & found))
    return found


def _reshaped_row(node: Move) -> set[str]:
    """The input or output of three dimensions, if the reshape leaves the stream as it is with channels second alone."""
    (x,), y = node.inputs, node.output
    if (len(x.shape), len(y.shape)) not in ((3, 4), (4, 3)) or not isinstance(node.movement, Reshape):
        return set()
    row = x if len(x.shape) == 3 else y
    turned = dataclasses.replace(row, channels_second=True)
    as_row = dataclasses.replace(node, inputs=(turned if row is x else x,), output=turned if row is y else y)
    return set() if stays((node,)) or not stays((as_row,)) else {row.name}


def _turned(tensor: Tensor) -> Tensor:
    return tensor.replace(channels_last=True)


def _fits_stages(net: Network, tensor: Tensor) -> bool:
    """True if all stages that take the input `tensor`, possibly after moves, get its stream in their own order. A dense
    layer takes any.
    """
    taken = [(x, places) for node, x, places in _takers(net, tensor) if not isinstance(node, Dense)]
    return all(_in_order(x, places) for x, places in taken)


def _is_stage(node: Node) -> bool:
    return not (isinstance(node, Move) and node.permutes)


def _takers(net: Network, tensor: Tensor) -> Iterator[tuple[Node, Tensor, _Places]]:
    """The stages behind `tensor`, with the input that it is to each, and the place in its stream of each element."""
    todo = [(tensor.name, _streamed(tensor))]
    while todo:
        name, places = todo.pop()
        for node in net.consumers(name):
            if _is_stage(node):
                yield node, next(x for x in node.inputs if x.name == name), places
            else:
                todo.append((node.output.name, node.apply(places)))


def _comes_turned(net: Network, output: Tensor) -> bool:
    """True if the stream `output`, possibly after moves, has elements in stored order, not in raster order."""
    makers, moves = {node.output.name: node for node in net.nodes}, []
    node = makers.get(output.name)
    while node is not None and not _is_stage(node):
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
