"""Lanes, which requantize the sums of an array, read from the Verilog: constants of each column, and answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .evaluate import Scope, Value, as_signed
from .expression import UnreadableError
from .serial import is_serial, with_products

__all__ = ["Column", "Float8Column", "Lanes"]

_CARRIES = "CCU2C"
_EFFORT_OF_CARRIES = 10
_COLUMNS_AT_ONCE = 64  # of a serial multiplier
_AT_ONCE = 1 << 15  # accumulators, whose values stay in the processor's cache


@dataclass(frozen=True, kw_only=True)
class Column:
    """Constants of one column: y = round((sum + bias - residual * sum of a) * multiplier / 2^shift) + zero_point."""

    bias: int
    residual: int
    multiplier: int
    shift: int
    offset: int
    zero_point: int


@dataclass(frozen=True, kw_only=True)
class Float8Column:
    """Constants of one column with float8: the code or integer nearest to (sum + bias - residual * sum of a) *
    multiplier * 2^exponent.
    """

    bias: int
    residual: int
    multiplier: int
    exponent: int


class Lanes(ABC):
    """The lanes of the module of `core`, called lane_0 and up; `has_row_sums`: they take sums of A as well."""

    core: Scope
    lanes: int
    has_row_sums = False
    b_signed: bool
    y_signed: bool

    @abstractmethod
    def lane(self, n: int, *, sums: Value, row_sum: int) -> Scope:
        """The lane that serves column `n` of Y at the time when it does, before an array that shows `sums`."""

    @property
    def first_lane(self) -> Scope:
        """A lane: the module that has a requantizer."""
        return self.core.child("lane_0")

    @property
    def sum_bits(self) -> int:
        """Width of a sum with its bias, as the requantizer takes it."""
        return self.first_lane.port_width("requantizer", "acc")

    @property
    def y_bits(self) -> int:
        """Width of an output."""
        return self.core.port_width("lane_0", "y")

    def float8_column(self, n: int) -> Float8Column:
        """The constants of column `n` of a layer with float8."""
        lane = self.lane(n, sums=0, row_sum=0)
        bits = lane.port_width("requantizer", "exponent")
        bias, residual = self._added(n)
        return Float8Column(
            bias=bias,
            residual=residual,
            multiplier=int(lane.port("requantizer", "multiplier")),
            exponent=int(as_signed(lane.port("requantizer", "exponent"), bits)),
        )

    def _added(self, n: int) -> tuple[int, int]:
        """The addend of the sums of column `n`, and the factor of the sum of a, which is subtracted from them."""
        bits = self.sum_bits
        bias, with_one = (
            int(as_signed(self.lane(n, sums=0, row_sum=row_sum).port("requantizer", "acc"), bits))
            for row_sum in (0, int(self.has_row_sums))
        )
        return bias, bias - with_one

    def column(self, n: int) -> Column:
        """The constants of column `n`."""
        lane = self.lane(n, sums=0, row_sum=0)
        requantizer = lane.child("requantizer")
        bias, residual = self._added(n)
        offset_bits = requantizer.module.wires["offset"].width if "offset" in requantizer.module.wires else 1
        point_bits = requantizer.module.wires["zero_point"].width if "zero_point" in requantizer.module.wires else 1
        found = {
            port: lane.port("requantizer", port) if port in requantizer.module.wires else 0
            for port in ("multiplier", "shift", "offset", "zero_point")
        }
        return Column(
            bias=bias,
            residual=residual,
            multiplier=int(found["multiplier"]),
            shift=int(found["shift"]),
            offset=int(as_signed(found["offset"], offset_bits)),
            zero_point=int(as_signed(found["zero_point"], point_bits)),
        )

    def respond(self, n: int, accumulators: Sequence[int]) -> list[int]:
        """Results of the Verilog's requantizer, with the tables of column `n`, for these accumulators."""
        (answers,) = self._answers({n: self._given(accumulators)})
        return [int(y) for y in answers]

    def respond_all(self, accumulators: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Yield the results for the accumulators of each column. Serial multipliers take several columns at once."""
        for first in range(0, len(accumulators), _COLUMNS_AT_ONCE):
            some = enumerate(accumulators[first : first + _COLUMNS_AT_ONCE], first)
            yield from ([int(y) for y in each] for each in self._answers({n: self._given(given) for n, given in some}))

    def _given(self, accumulators: Sequence[int]) -> npt.NDArray[Any]:
        mask = (1 << self.sum_bits) - 1
        return np.array([acc & mask for acc in accumulators], dtype=object)

    @property
    def effort(self) -> int:
        """Cost of an answer relative to plain logic: carry chains are followed table by table, serial products cycle by
        cycle.
        """
        if is_serial(self.first_lane.child("requantizer")):
            return _EFFORT_OF_CARRIES
        requantizer = self.first_lane.child("requantizer").module
        waiting, seen = [requantizer], {requantizer.name}
        while waiting:
            kinds = {placed.kind for placed in waiting.pop().instances.values()}
            if _CARRIES in kinds:
                return _EFFORT_OF_CARRIES
            waiting += [self.core.modules[kind] for kind in kinds - seen if kind in self.core.modules]
            seen |= kinds
        return 1

    def respond_in(self, n: int, lo: int, hi: int) -> Iterator[npt.NDArray[Any]]:
        """The same for every accumulator from `lo` to `hi`, some after the others."""
        mask = (1 << self.sum_bits) - 1
        for start in range(lo, hi + 1, _AT_ONCE):
            given = np.arange(start, min(start + _AT_ONCE, hi + 1), dtype=np.int64) & mask
            yield from self._answers({n: given})

    def _answers(self, given: Mapping[int, npt.NDArray[Any]]) -> Iterator[npt.NDArray[Any]]:
        """Results for the accumulators of each column."""
        requantizers = [
            self.lane(n, sums=0, row_sum=0).child("requantizer", {"acc": accumulators})
            for n, accumulators in given.items()
        ]
        if is_serial(requantizers[0]):
            requantizers = with_products(requantizers)
        for requantizer, accumulators in zip(requantizers, given.values(), strict=True):
            bits = requantizer.module.wires["y"].width
            answer = requantizer.value("y")
            signed = as_signed(answer, bits) if self.y_signed else answer
            yield np.broadcast_to(np.asarray(signed), accumulators.shape)

    def check_outputs(self) -> None:
        """Raise UnreadableError unless lane l of a beat is its output l."""
        bits = self.core.port_width("lane_0", "y")
        nets = [self.core.connected(f"lane_{lane}", "y") for lane in range(self.lanes)]
        marked = self.core.again({net: (lane + 1) % (1 << bits) for lane, net in enumerate(nets)})
        expected = sum((lane + 1) % (1 << bits) << (lane * bits) for lane in range(self.lanes))
        if marked.port("result_buffer", "y") != expected:
            raise UnreadableError("the lanes' outputs do not enter the result buffer in order")
