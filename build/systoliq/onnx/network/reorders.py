"""Reorders: movements whose elements must come in raster order, which a memory makes at once.

Reshaped or transposed elements stay in the order in which they come, as long as only dense layers of whole images take
them, whose weights can follow any order. Others take raster order: for them the movements since the stage before
become one `Chain`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Chain, Dense, Move, Network, Node

__all__ = ["stays", "with_reorders"]


def with_reorders(net: Network) -> Network:
    """`net` with a `Chain` in place of each move that brings elements in another order to where raster order counts."""
    leaving = {tensor.name for tensor in net.outputs}
    behind: dict[str, tuple[Move, ...]] = {}  # moves between a tensor and the stage or input before it
    nodes: list[Node] = []
    for node in net.nodes:
        if isinstance(node, Move):
            moves = (*behind.get(node.inputs[0].name, ()), node)
            if node.permutes:
                output = node.output.name
                wanted = output in leaving or any(map(_takes_raster_order, net.consumers(output)))
                chained = wanted and not stays(moves)
            else:
                chained = not stays(moves[:-1])
            if chained:
                movement = Chain(tuple(move.movement for move in moves))
                counted = node.inputs[0]  # the moves before may count in other units
                x = moves[0].inputs[0].replace(scale=counted.scale, zero_point=counted.zero_point)
                node = dataclasses.replace(node, inputs=(x,), movement=movement)
            behind[node.output.name] = moves if node.permutes else ()
        nodes.append(node)
    return dataclasses.replace(net, nodes=tuple(_alive(nodes, leaving)))


def _takes_raster_order(node: Node) -> bool:
    if isinstance(node, Dense):
        (x,) = node.inputs
        return node.layer.k != x.pixels * x.channels
    return not isinstance(node, Move)


def stays(moves: tuple[Move, ...]) -> bool:
    """True if these moves keep elements in raster order."""
    order: npt.NDArray[np.int64] | None = None
    for move in moves:
        picked = move.order.reshape(-1)
        order = picked if order is None else order[picked]
    return order is None or bool((np.diff(order) == 1).all())


def _alive(nodes: list[Node], leaving: set[str]) -> list[Node]:
    """`nodes` without moves that nothing takes any more."""
    taken, found = set(leaving), []
    for node in reversed(nodes):
        if node.output.name in taken or not isinstance(node, Move):
            taken |= {tensor.name for tensor in node.inputs}
            found.append(node)
    return found[::-1]
