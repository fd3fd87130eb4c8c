"""Moves: elements in another order, which needs no hardware, or pixels and lines several times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from systoliq.golden import network

from ...operand_shape import operand_shape
from ..dependency import Dependency
from ..memory import Memory
from ..operator import Arrays, Operator
from ..parallelism import Parallelism
from ..recipe import Order, Recipe
from ..upsampling import Upsampling

__all__ = ["MoveOperator"]


class MoveOperator(Operator[network.Move]):
    """A stage only where elements come several times or not at all."""

    node_type = network.Move

    @property
    def is_stage(self) -> bool:
        """Whether an element of the input is there several times, or not at all."""
        return not self.node.permutes

    @property
    def order(self) -> Order:
        """Which element of the input each element of the output is."""
        return self.node.order.reshape(-1)

    def build(self, recipe: Recipe) -> Upsampling:
        """Whole pixels and lines several times. Raises ValueError for all other moves."""
        movement, x = self.node.movement, self.node.inputs[0]
        if not isinstance(movement, network.Nearest):
            raise ValueError(f"there is no hardware for {self.node.kind} that repeats elements or leaves them out")
        lanes = recipe.lanes(x.channels)
        pixel = x.channels // lanes
        return Upsampling(
            operand_shape(x.format),
            lanes=lanes,
            line=x.shape[3] * pixel,
            down=_times("rows", movement.rows, x.shape[2]),
            pixel=pixel,
            across=_times("columns", movement.columns, x.shape[3]),
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
        """Return lanes, and what repeats lines or pixels."""
        sizes = zip(self.node.inputs[0].shape, self.node.output.shape, strict=True)
        return {**super().parts(parallelism), "repeater": sum(made > given for given, made in sizes)}

    def arrays(self, stage: Upsampling) -> Arrays:
        """Return none: no element changes."""
        return {}


def _times(name: str, picked: tuple[int, ...], size: int) -> int:
    """Return how often each of ``size`` rows or columns is picked. Raises ValueError if not all are as often."""
    times = len(picked) // size
    if picked != tuple(index for index in range(size) for _ in range(times)):
        raise ValueError(f"{name} must be all {size} of the input, each as often, in their order, not {list(picked)}")
    return times
