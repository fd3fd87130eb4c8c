"""Broadcasts: operands of pairs that are repeated to the shape of the result where a stage does not repeat them itself.

A stage takes two tensors of one shape, or repeats one pixel. A gate for each row, column or place, or one number, is
repeated by a `Move` before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from systoliq.golden.network import Addition, Move, Multiplication, Network, Node, RealPair, Reshape, Tensor
from systoliq.golden.network.moves import Chain, Gather, Movement

__all__ = ["with_broadcasts"]


def with_broadcasts(net: Network) -> Network:
    """`net` with a `Move` before each pair that repeats an operand, other than one pixel of all channels."""
    return dataclasses.replace(net, nodes=tuple(each for node in net.nodes for each in _repeated(node)))


def _repeated(node: Node) -> Iterator[Node]:
    if isinstance(node, Addition | Multiplication | RealPair) and not _is_taken(node):
        whole, inputs = node.output, []
        for index, x in enumerate(node.inputs):
            if x.value is not None or x.shape == whole.shape:
                inputs.append(x)
                continue
            name = f"{node.name}: operand {index}"
            large = x.replace(name=f"{whole.name}: operand {index}", shape=whole.shape)
            inputs.append(large.replace(channels_last=whole.channels_last))
            yield Move(name=name, inputs=(x,), output=inputs[-1], movement=_expansion(x.shape, whole.shape))
        node = dataclasses.replace(node, inputs=tuple(inputs))
    yield node


def _is_taken(node: Node) -> bool:
    """True if a stage takes the operands of `node` as they are."""
    output = node.output
    pixel = tuple(size if axis in (0, output.channel_axis) else 1 for axis, size in enumerate(output.shape))
    computed: list[Tensor] = [x for x in node.inputs if x.value is None]
    others = [x for x in computed if x.shape != output.shape]
    return not others or (len(others) == 1 and len(computed) == 2 and others[0].shape == pixel)


def _expansion(shape: tuple[int, ...], target: tuple[int, ...]) -> Movement:
    """The repetition of a tensor of `shape` to `target`, which has the same batch or is all that has one."""
    full = (*[1] * (len(target) - len(shape)), *shape)
    gathers = (Gather(axis, (0,) * size) for axis, size in enumerate(target) if axis and full[axis] < size)
    return Chain((Reshape(full[1:]), *gathers))
