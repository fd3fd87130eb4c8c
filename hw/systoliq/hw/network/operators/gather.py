"""Gathers: elements that are left out, or come in another order, from a memory of the blocks that they lie in."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from systoliq.golden import network

from ...operand_shape import operand_shape
from ..dependency import Dependency
from ..gather import HANDOVER, Gather, address_bits, block_of, slots_of
from ..memory import Memory
from ..operator import Arrays, Operator
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..upsampling import upsampling_times
from .move import move_claims, move_proof

__all__ = ["GatherOperator"]


class GatherOperator(Operator[network.Move]):
    """A move that needs a memory."""

    node_type = network.Move

    @classmethod
    def takes(cls, node: network.Node) -> bool:
        """True if elements must be stored to be reordered, or are left out."""
        return isinstance(node, network.Move) and not node.permutes and upsampling_times(node) is None

    @property
    def common_channels(self) -> int:
        """Number of channels that lanes must divide, from both sides."""
        return math.gcd(self.node.inputs[0].channels, self.node.output.channels)

    def build(self, recipe: Recipe) -> Gather:
        """The memory, and the indices of the elements in a block."""
        form, lanes = self.node.inputs[0].format, recipe.lanes(self.common_channels)
        block, indices = block_of(self.node, lanes)
        return Gather(
            operand_shape(form),
            lanes=lanes,
            block=block,
            indices=indices.tolist(),
            cells=recipe.cells,
            kind=recipe.kind,
        )

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        lanes = parallelism.cols
        given, made = (each.pixels * each.channels // lanes for each in (self.node.inputs[0], self.node.output))
        block, _ = block_of(self.node, lanes)
        blocks = given * lanes // block if slots_of(block // lanes) == 2 else 0  # those that wait for memory
        return max(given, made, -(-(given + made) // 2) + HANDOVER * blocks)

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        """`Dependency.needed` of the output: a block leaves once it is whole. Its size does not depend on the lanes."""
        (x,), y = self.node.inputs, self.node.output
        block, indices = block_of(self.node, self.common_channels)
        left = np.arange(1, y.pixels + 1) * y.channels  # elements, with each pixel
        come = -(-left // len(indices)) * block
        return given[0].over(x.pixels)[-(-come // x.channels) - 1]

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield blocks, a copy for each lane that takes elements of several beats, and the indices."""
        lanes = parallelism.cols
        block, indices = block_of(self.node, lanes)
        place_bits, lane_bits = address_bits(block, indices.reshape(-1, lanes))
        copies = lanes if lane_bits else 1
        yield Memory(slots_of(block // lanes) << place_bits, self.node.inputs[0].format.bits * lanes, count=copies)
        if place_bits + lane_bits:
            yield Memory(len(indices) // lanes, (place_bits + lane_bits) * copies, constant=True)
        yield from super().own_memories(parallelism, cells)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        """Return lanes, and what counts blocks in and out."""
        return {**super().parts(parallelism), "repeater": 1}

    def arrays(self, stage: Gather) -> Arrays:
        """Return none: no element changes."""
        return {}

    @property
    def proof(self) -> str:
        return move_proof(self.node)

    def claims(self, stage: Gather) -> dict[str, Any]:
        return move_claims(self.node, stage.lanes)
