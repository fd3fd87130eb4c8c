"""Concatenations: pixel after pixel, line after line or image after image, the elements of all inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import network

from ..concatenation import Concatenation, Part
from ..dependency import Dependency
from ..memory import Memory
from ..operator import Arrays, Operator, digest
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
        lanes = recipe.lanes(self.common_channels)
        parts = [
            Part(
                tensor.format,
                self._elements(tensor) // lanes,
                None if entries is None else entries.tolist(),
                is_constant=tensor.value is not None,
            )
            for tensor, entries in zip(node.inputs, node.tables, strict=True)
        ]
        return Concatenation(parts, node.output.format, lanes=lanes, cells=recipe.cells, kind=recipe.kind)

    @property
    def _turns(self) -> int:
        """How often in an image every input has a turn: for each pixel, or for what is outside of the axis in a stream,
        where channels are the last dimension.
        """
        output, axis = self.node.output, self.node.axis
        channels = output.channel_axis
        outside = range(1, axis) if channels > axis else (each for each in range(1, axis) if each != channels)
        if axis == channels:
            return output.pixels
        return math.prod(output.shape[each] for each in outside)

    def _elements(self, tensor: network.Tensor) -> int:
        """Elements of the input ``tensor`` in a turn."""
        return math.prod(tensor.shape[1:]) // self._turns

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        """`Dependency.needed` of the output: each of its pixels needs one of one input, unless an axis of pixels
        is whole.
        """
        if self.node.axis == self.node.output.channel_axis:
            return super().needed(given)
        computed = iter(given)
        parts = [
            np.zeros(tensor.pixels, int) if tensor.value is not None else next(computed).over(tensor.pixels)
            for tensor in self.node.inputs
        ]
        turns = np.concatenate([part.reshape(self._turns, -1) for part in parts], axis=1)
        return np.asarray(np.maximum.accumulate(turns.reshape(-1)))

    def waiting(self, given: Sequence[Dependency]) -> list[int]:
        """Pixels of each computed input that must find room: at most an image, which may come in others' turns."""
        usual = super().waiting(given)
        if self.node.axis == self.node.output.channel_axis:
            return usual
        computed = [tensor for tensor in self.node.inputs if tensor.value is None]
        return [
            min(count + tensor.pixels // self._turns, tensor.pixels + tensor.columns + 2)
            for count, tensor in zip(usual, computed, strict=True)
        ]

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield a memory of all tables for each lane, if there are any, and a FIFO for results."""
        if any(table is not None for table in self.node.tables):
            yield Memory(256 * len(self.node.inputs), 8, constant=True, count=parallelism.cols)
        yield from super().own_memories(parallelism, cells)

    @property
    def proof(self) -> str:
        return f"{len(self.node.inputs)} x 256 entries"

    def arrays(self, stage: Any) -> Arrays:
        arrays: Arrays = {"elements": np.array(list(map(self._elements, self.node.inputs)))}
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
