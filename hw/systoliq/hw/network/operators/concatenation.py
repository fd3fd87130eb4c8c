"""Concatenations: pixel after pixel, the channels of all inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import network

from ..concatenation import Concatenation, Part
from ..memory import Memory
from ..operator import Arrays, Operator, digest
from ..pair_operator import channel_axis
from ..parallelism import Parallelism
from ..recipe import Recipe

__all__ = ["ConcatenationOperator"]


class ConcatenationOperator(Operator[network.Concatenation]):
    """Beats of each input in turn, each input's by a table if its codes change."""

    node_type = network.Concatenation

    @property
    def common_channels(self) -> int:
        """The greatest number that divides the channels of all inputs."""
        return math.gcd(*(tensor.channels for tensor in self.node.inputs))

    def _constant_tensor(self, index: int) -> network.Tensor:
        return self.node.inputs[index]

    def build(self, recipe: Recipe) -> Concatenation:
        node = self.node
        axis = channel_axis(node.output)
        if node.axis != axis:
            raise ValueError(f"axis must be that of the channels, {axis} of {list(node.output.shape)}, not {node.axis}")
        lanes = recipe.lanes(self.common_channels)
        parts = [
            Part(tensor.format, tensor.channels // lanes, None if entries is None else entries.tolist())
            for tensor, entries in zip(node.inputs, node.tables, strict=True)
        ]
        return Concatenation(parts, node.output.format, lanes=lanes, cells=recipe.cells, kind=recipe.kind)

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield a memory of all tables for each lane, if there are any, and a FIFO for results."""
        if any(table is not None for table in self.node.tables):
            yield Memory(256 * len(self.node.inputs), 8, constant=True, count=parallelism.cols)
        yield from super().own_memories(parallelism, cells)

    @property
    def proof(self) -> str:
        return f"{len(self.node.inputs)} x 256 entries"

    def arrays(self, stage: Any) -> Arrays:
        arrays: Arrays = {"channels": np.array([tensor.channels for tensor in self.node.inputs])}
        for index, (tensor, entries) in enumerate(zip(self.node.inputs, self._entries, strict=True)):
            arrays[f"entries_{index}"] = entries
            arrays[f"zero_point_{index}"] = np.array(tensor.zero_point, tensor.format.dtype)
        return arrays

    def claims(self, stage: Concatenation) -> dict[str, Any]:
        return {
            "verdict": "exact",
            "format": self.node.output.format.name,
            "lanes": stage.lanes,
            "inputs": [
                {"format": tensor.format.name, "beats": part.beats, "results_sha256": digest(entries)}
                for tensor, part, entries in zip(self.node.inputs, stage.parts, self._entries, strict=True)
            ],
        }

    @property
    def _entries(self) -> list[npt.NDArray[Any]]:
        """The results for all codes of each input, the least first."""
        return [
            tensor.codes.astype(self.node.output.format.dtype) if entries is None else entries
            for tensor, entries in zip(self.node.inputs, self.node.tables, strict=True)
        ]
