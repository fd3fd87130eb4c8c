"""Operator: the hardware of one kind of node, from the plan before anything is built to the certificate.

Each kind of node has one class, in a file of its own in `operators`; `operator_of` returns the operator of a node. The
defaults suit an operator that makes each element of its output from the same element of its inputs.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network.tensor import BYTE
from systoliq.golden.requantization import Requantization

from ..folding import Folding
from ..operand_shape import operand_shape
from .constants import Constants
from .dependency import Dependency, waiting_pixels
from .image import ImageWindow
from .memory import Memory
from .parallelism import Parallelism
from .recipe import Order, Recipe

__all__ = ["Arrays", "BuiltProduct", "Operator", "digest", "digest_of_words"]

N_co = TypeVar("N_co", bound=network.Node, covariant=True)
Arrays = dict[str, npt.NDArray[Any]]


class BuiltProduct(NamedTuple):
    """The matrix product in a stage that was built; ``array``: its ``rows``, ``cols`` and ``depth``, or ``lanes``."""

    layer: MatMulLayer
    requantization: Requantization
    folding: Folding
    array: Mapping[str, int]
    accumulator_bits: int
    sum_bits: int


class Operator(ABC, Generic[N_co]):
    """The hardware of ``node``, of the class ``node_type``.

    Methods with a ``parallelism`` take one of `choices`, with any cells.
    """

    node_type: ClassVar[type[network.Node]]
    tested: ClassVar[str] = "flow"
    """Parts of a certified stage that are only tested."""

    def __init__(self, node: N_co) -> None:
        self.node = node

    @classmethod
    def takes(cls, node: network.Node) -> bool:
        """True if ``node``, of the class ``node_type``, belongs to this operator; exactly one operator takes a node."""
        return True

    # The stage that a node becomes.

    @property
    def is_stage(self) -> bool:
        """True if the node becomes hardware; else it only changes the `order` of elements."""
        return True

    @property
    def order(self) -> Order:
        """For a node that is no stage: which element of the input each element of the output is, as indices."""
        return np.arange(self.node.output.pixels * self.node.output.channels)

    @property
    def takes_order(self) -> bool:
        """True if the stage can take elements in an order other than `Tensor.raster`'s."""
        return False

    @abstractmethod
    def build(self, recipe: Recipe) -> wiring.Component:
        """Return the hardware: streams ``i``, or ``i_0`` and on, and ``o``.

        Raises ValueError if there is none, or none for the recipe's parallelism.
        """

    def constants(self, index: int, parallelism: Parallelism, *, cells: str, kind: str) -> Constants:
        """Return the constant input ``index`` as a stream, in the order of the other inputs."""
        shape = operand_shape(self.node.inputs[index].format)
        elements = self.constant_elements(index, parallelism)
        return Constants(elements, shape, lanes=parallelism.cols, cells=cells, kind=kind)

    def constant_elements(self, index: int, parallelism: Parallelism) -> list[int]:
        """Return the shortest list of elements that, repeated, is the constant input ``index``."""
        tensor, lanes = self._constant_tensor(index), parallelism.cols
        whole = np.broadcast_to(np.asarray(self.node.inputs[index].value), (1, *tensor.shape[1:]))
        elements = tensor.raster(whole).reshape(-1)
        periods = [p for p in range(lanes, len(elements) + 1, lanes) if len(elements) % p == 0]
        period = next(p for p in periods if (elements.reshape(-1, p) == elements[:p]).all())
        found: list[int] = elements[:period].tolist()
        return found

    def _constant_tensor(self, index: int) -> network.Tensor:
        """The constant input ``index`` in the shape in which it meets the other inputs."""
        return self.node.inputs[index].replace(shape=(1, *self.node.output.shape[1:]), value=None)

    # The plan: choices of the stage, their speed and multipliers.

    @cached_property
    def windows(self) -> ImageWindow:
        """The windows that outputs are made of: the output's own pixels by default."""
        return ImageWindow.over(self.node.output)

    @property
    def common_channels(self) -> int:
        """The channels that lanes must divide."""
        return self.windows.channels

    def choices(self) -> Iterator[Parallelism]:
        """Yield each parallelism that the stage can have: by default as many lanes as divide the channels."""
        channels = self.common_channels
        return (Parallelism(cols=lanes) for lanes in range(1, channels + 1) if channels % lanes == 0)

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        return self.windows.pixels * self.windows.channels // parallelism.cols

    def multipliers(self, parallelism: Parallelism) -> int:
        """Products per cycle, without requantizers'."""
        return 0

    def lanes(self, parallelism: Parallelism) -> int:
        """Elements in a beat of the stage's output."""
        return parallelism.cols

    def is_wide(self, parallelism: Parallelism) -> bool:
        """True if the stage takes several pixels of a window in a cycle."""
        return False

    @property
    def is_product(self) -> bool:
        """True if outputs are products of all channels, or of a group's: cols and depth are then both free."""
        return False

    @property
    def requantizer_factors(self) -> tuple[int, int] | None:
        """Bits of both factors of the product in each lane's requantizer: sums, and mantissas of scales without the
        zeros at their ends; None without requantizers.
        """
        return None

    def lane_pace(self, parallelism: Parallelism) -> int:
        """Cycles from one sum to the next at a requantizer, at the least."""
        return 1

    @property
    def needs_row_sums(self) -> bool:
        """True if a product needs the row sums of A, because weights less their zero points need more bits."""
        return self.row_sum_factors is not None

    @property
    def row_sum_factors(self) -> tuple[int, int] | None:
        """Bits of both factors of the product of row sums in each lane; None without row sums."""
        return None

    @property
    def layer(self) -> MatMulLayer | None:
        """The node's layer; None without one."""
        return None

    @property
    def weight_bits(self) -> int:
        """Bits of a weight, or of the factor in its place."""
        return BYTE if self.layer is None else self.layer.b_format.bits

    @cached_property
    def scales_vary(self) -> bool:
        """True if the columns of the layer have different scales."""
        return self.layer is not None and bool((self.layer.scale != self.layer.scale.flat[0]).any())

    # The pipeline: which part of the image a pixel needs.

    def dependency(self, given: Sequence[Dependency], share: float = 0.0) -> Dependency:
        """Return the dependency of the output from those of the computed inputs; the stage is busy for ``share`` of the
        time between images.
        """
        output = self.node.output
        return Dependency(self.needed(given), output.columns, max(each.lag for each in given) + share / output.pixels)

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        """`Dependency.needed` of the output."""
        return np.asarray(np.max([each.over(self.node.output.pixels) for each in given], axis=0))

    def waiting(self, given: Sequence[Dependency]) -> list[int]:
        """Return how many pixels of each computed input must find room before the stage, which has several of them."""
        made = self.node.output.pixels
        computed = [tensor for tensor in self.node.inputs if tensor.value is None]
        counts = waiting_pixels(given, made)
        return [-(-count * tensor.pixels // made) for count, tensor in zip(counts, computed, strict=True)]

    # The estimate: parts of the stage.

    def memories(self, parallelism: Parallelism, waiting: Sequence[int], cells: str) -> Iterator[Memory]:
        """Yield the memories of the stage, and of FIFOs for ``waiting`` beats before each input."""
        lanes = self.lanes(parallelism)
        yield from self.own_memories(parallelism, cells)
        for index, tensor in enumerate(self.node.inputs):
            if tensor.value is not None:
                words = len(self.constant_elements(index, parallelism)) // lanes
                yield Memory(words, BYTE * lanes, constant=True)
        yield from (Memory(beats, BYTE * lanes) for beats in waiting if beats)

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield the memories of the stage without its constant inputs: a FIFO for results by default."""
        yield Memory(16, BYTE * self.lanes(parallelism) + 1)

    def window_memory(self, parallelism: Parallelism) -> Memory | None:
        """Return the lines of the image that windows need again; None without any."""
        return None

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        """Return the number of parts of each kind, besides products and memories; estimates have prices for them."""
        return {"join": 1, "join_lane": self.lanes(parallelism)}

    # The certificate: what `systoliq verify` derives again. ``stage`` is what `build` returned.

    @property
    def proof(self) -> str:
        """The cases that prove the `claims` of the stage, in words; empty if it is tested, or has a `product`."""
        return ""

    def arrays(self, stage: Any) -> Arrays:
        """Return arrays of the stage's function: by default the scales and zero points of its tensors."""
        arrays: Arrays = {}
        for letter, tensor in (*zip("ab", self.node.inputs, strict=False), ("y", self.node.output)):
            arrays[f"{letter}_scale"] = np.array(tensor.scale, np.float32)
            arrays[f"{letter}_zero_point"] = np.array(tensor.zero_point, tensor.format.dtype)
        return arrays

    def product(self, stage: Any) -> BuiltProduct | None:
        """Return the matrix product in the stage, whose columns are certified; None without one."""
        return None

    def claims(self, stage: Any) -> dict[str, Any]:
        """Return the certificate's claims about a stage without a `product`: by default that it is tested, not
        certified. Of a stage that is "exact in part", the `proof` is certified, and `tested` names the rest.

        Any other verdict than "tested" needs a reader in `systoliq.verify`.
        """
        return {"verdict": "tested"}

    @property
    def formats(self) -> dict[str, str]:
        """The formats of the first input and the output, as certificates have them."""
        return {"a": self.node.inputs[0].format.name, "y": self.node.output.format.name}


def digest(results: npt.NDArray[Any]) -> str:
    """Return SHA-256 of results as bytes, in the order of the operands' codes, the least first."""
    return hashlib.sha256(results.astype(np.int64).astype(np.uint8).tobytes()).hexdigest()


def digest_of_words(words: Iterable[int]) -> str:
    """Return SHA-256 of integers of any size: decimal, with spaces between them."""
    return hashlib.sha256(" ".join(map(str, words)).encode("ascii")).hexdigest()
