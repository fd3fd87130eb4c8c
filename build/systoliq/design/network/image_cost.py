"""Cost of an image in a network's plan: its work, and the bytes of memories and streams."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from systoliq.golden.network import Network
from systoliq.hw.network.operators import operator_of

from ..image_cost import ImageCost
from .plan import Plan

__all__ = ["image_cost"]


def image_cost(network: Network, plan: Plan, waiting: Mapping[str, Sequence[int]], cells: str) -> ImageCost:
    """Return the cost of an image of `network` in `plan`, with FIFOs for the beats `waiting` before each stage by the
    name of its output. Memories count with all their words, whether they become memory blocks or lookup tables.
    """
    bits: Counter[bool] = Counter()  # of constant memories, and of others
    for stage in plan.stages:
        waits = waiting.get(stage.node.output.name, ())
        for memory in operator_of(stage.node).memories(stage.parallelism, waits, cells):
            bits[memory.constant] += memory.count * memory.words * memory.bits
    inputs, outputs = (
        sum(math.prod(each.shape) * each.format.bits for each in ends) for ends in (network.inputs, network.outputs)
    )
    return ImageCost(
        multiply_accumulates=network.multiply_accumulates,
        constants=_bytes(bits[True]), buffers=_bytes(bits[False]), inputs=_bytes(inputs), outputs=_bytes(outputs),
    )  # fmt: skip


def _bytes(bits: int) -> int:
    return -(-bits // 8)
