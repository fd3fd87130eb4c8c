"""Moves: elements in the order in which they come, which needs no hardware, or pixels and lines several times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from systoliq.golden import network

from ...operand_shape import operand_shape
from ..dependency import Dependency
from ..memory import Memory
from ..operator import Arrays, Operator
from ..parallelism import Parallelism
from ..recipe import Order, Recipe
from ..upsampling import Upsampling, upsampling_times

__all__ = ["MoveOperator", "move_claims", "move_proof"]


class MoveOperator(Operator[network.Move]):
    """A stage only where rows or columns come several times."""

    node_type = network.Move

    @classmethod
    def takes(cls, node: network.Node) -> bool:
        """True if no element has to wait in a memory to be reordered."""
        return isinstance(node, network.Move) and (node.permutes or upsampling_times(node) is not None)

    @property
    def is_stage(self) -> bool:
        """True if elements of the input appear several times."""
        return not self.node.permutes

    @property
    def order(self) -> Order:
        return self.node.order.reshape(-1)

    def build(self, recipe: Recipe) -> Upsampling:
        x = self.node.inputs[0]
        lanes = recipe.lanes(x.channels)
        down, across = upsampling_times(self.node) or (1, 1)
        pixel = x.channels // lanes
        return Upsampling(
            operand_shape(x.format),
            lanes=lanes,
            line=x.shape[3] * pixel,
            down=down,
            pixel=pixel,
            across=across,
            cells=recipe.cells,
            kind=recipe.kind,
        )

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        """`Dependency.needed` of the output: a line leaves once it is whole."""
        x, columns = self.node.inputs[0], self.node.output.shape[3]
        lines = self.node.order[::columns, 0] // (x.channels * x.shape[3]) + 1
        return given[0].of_lines(x, lines, columns)

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield lines and pixels that come again: each twice, as one comes while the other leaves."""
        x, y, lanes = self.node.inputs[0], self.node.output, parallelism.cols
        beats, bits = x.channels // lanes, x.format.bits * lanes + 1
        if y.shape[2] > x.shape[2]:
            yield Memory(2 * beats * x.shape[3], bits)
        if y.shape[3] > x.shape[3]:
            yield Memory(2 * beats, bits)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        sizes = zip(self.node.inputs[0].shape, self.node.output.shape, strict=True)
        return {**super().parts(parallelism), "repeater": sum(made > given for given, made in sizes)}

    def arrays(self, stage: Upsampling) -> Arrays:
        """Return none: no element changes."""
        return {}

    @property
    def proof(self) -> str:
        return move_proof(self.node)

    def claims(self, stage: Upsampling) -> dict[str, Any]:
        return move_claims(self.node, stage.lanes)


def move_proof(node: network.Move) -> str:
    """The cases that prove the claims of a move."""
    return f"{node.order.size} places"


def move_claims(node: network.Move, lanes: int) -> dict[str, Any]:
    """Claims about a move in ``lanes``: the element of its input's stream for each element of its output's."""
    picks = hashlib.sha256(node.order.astype("<i8").tobytes()).hexdigest()
    return {"verdict": "exact", "lanes": lanes, "picks_sha256": picks}
