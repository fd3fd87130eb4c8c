"""Contents of a dense layer's Verilog: weights, constants of each column, and the answer of its requantizer.

All of it is read from the text, by following nets from where they are used: the array's B operands back to the weight
memories, each requantizer's inputs back to the tables, the sums that a drain lane reads back to the array's columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .evaluate import Scope, Value, as_signed
from .expression import UnreadableError
from .syntax import Module, read_verilog

__all__ = ["Column", "Float8Column", "Hardware", "Shape", "UnreadableError"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What must be known to name the parts: K x N on an array of `cols` columns, `depth` pairs a beat."""

    k: int
    n: int
    cols: int
    depth: int
    b_signed: bool
    y_signed: bool


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


class Hardware:
    """The module `name` of a Verilog text, a dense layer of the given `shape`."""

    def __init__(self, text: str, name: str, shape: Shape) -> None:
        self.modules: Mapping[str, Module] = read_verilog(text)
        self.shape = shape
        self._dense = Scope(self.modules, name).child("dense")
        instances = self._dense.module.instances
        self.lanes = sum(instance.startswith("lane_") for instance in instances)
        columns = sum(instance.startswith("weights_") for instance in instances)
        self.has_row_sums = columns == shape.cols + 1
        if columns not in (shape.cols, shape.cols + 1) or not self.lanes or shape.cols % self.lanes:
            raise UnreadableError(f"{columns} weight memories and {self.lanes} lanes do not make {shape.cols} columns")
        self._columns = columns
        self._interval = shape.cols // self.lanes
        self._source = {
            (lane, step): self._source_of(lane, step) for lane in range(self.lanes) for step in range(self._interval)
        }
        self._check_outputs()

    @property
    def accumulator_bits(self) -> int:
        """Width of the array's sums."""
        return self._dense.port_width("array", "sums") // self._columns

    @property
    def sum_bits(self) -> int:
        """Width of a sum with its bias, as the requantizer takes it."""
        return self._dense.child("lane_0").port_width("requantizer", "acc")

    @property
    def weight_bits(self) -> int:
        """Width of a stored weight."""
        return self._dense.port_width("array", "b") // (self._columns * self.shape.depth)

    @property
    def a_width(self) -> int:
        """Bits of A that the array takes at once."""
        return self._dense.port_width("array", "a")

    @property
    def y_bits(self) -> int:
        """Width of an output."""
        return self._dense.port_width("lane_0", "y")

    def weights(self) -> list[list[int]]:
        """The stored weights, [K][N]; an `UnreadableError` where the words beyond K or N are not zero."""
        shape, depth, bits = self.shape, self.shape.depth, self.weight_bits
        beats, tiles = -(-shape.k // depth), -(-shape.n // shape.cols)
        address = np.array(range(beats * tiles), dtype=object)
        found = self._weight_words(address, taken=1)
        words = np.broadcast_to(np.asarray(found, object), address.shape)  # a memory of one word has no address
        mask = (1 << bits) - 1
        weights = [[0] * shape.n for _ in range(shape.k)]
        logical = {source: divmod_lane for divmod_lane, source in self._source.items()}
        for at in range(beats * tiles):
            tile, beat = divmod(at, beats)
            for physical in range(self._columns):
                for place in range(depth):
                    k = beat * depth + place
                    stored = (int(words[at]) >> (physical * depth + place) * bits) & mask
                    value = int(as_signed(stored, bits)) if shape.b_signed else stored
                    if physical not in logical:
                        if value != (k < shape.k):
                            raise UnreadableError(f"the column of row sums holds {value} at k = {k}")
                        continue
                    lane, step = logical[physical]
                    n = tile * shape.cols + step * self.lanes + lane
                    if k < shape.k and n < shape.n:
                        weights[k][n] = value
                    elif value:
                        raise UnreadableError(f"the weight memory is not 0 at k = {k}, column {n}, beyond the layer")
        return weights

    def idle_weights(self) -> int:
        """What the array has as weights in a cycle without a beat of A."""
        return int(self._weight_words(0, taken=0))

    def _weight_words(self, address: Value, *, taken: int) -> Value:
        """The array's B operands; ``taken``: whether a beat of A comes with them."""
        return self._dense.again({self._dense.connected("sequencer", "address"): address, "taken": taken}).port(
            "array", "b"
        )

    def float8_column(self, n: int) -> Float8Column:
        """The constants of column `n` of a layer with float8."""
        lane = self._lane(n, sums=0, row_sum=0)
        bits = lane.port_width("requantizer", "exponent")
        bias, residual = self._added(n)
        return Float8Column(
            bias=bias,
            residual=residual,
            multiplier=int(lane.port("requantizer", "multiplier")),
            exponent=int(as_signed(lane.port("requantizer", "exponent"), bits)),
        )

    def entering(self, words: Sequence[int]) -> list[int]:
        """What is stored of these words of A, and whether it ends a batch above it, as they come."""
        keeper = "replay_buffer" if "replay_buffer" in self._dense.module.instances else "sequencer"
        given = np.array(words, dtype=object)
        found = self._dense.again({"a__payload": given}).port(keeper, "i__payload")
        return [int(word) for word in np.broadcast_to(np.asarray(found, object), given.shape)]

    @property
    def entrance_width(self) -> int:
        """Bits of a word of A as it comes, without the one that ends a batch."""
        return self._dense.module.wires["a__payload"].width - 1

    def _added(self, n: int) -> tuple[int, int]:
        """What is added to the sums of column `n`, and what the sum of a, which is taken off them, is multiplied by."""
        bits = self.sum_bits
        bias, with_one = (
            int(as_signed(self._lane(n, sums=0, row_sum=row_sum).port("requantizer", "acc"), bits))
            for row_sum in (0, int(self.has_row_sums))
        )
        return bias, bias - with_one

    def column(self, n: int) -> Column:
        """The constants of column `n`."""
        lane = self._lane(n, sums=0, row_sum=0)
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
        """What the Verilog's requantizer, with the tables of column `n`, answers for these accumulators."""
        mask = (1 << self.sum_bits) - 1
        given = np.array([acc & mask for acc in accumulators], dtype=object)
        requantizer = self._lane(n, sums=0, row_sum=0).child("requantizer", {"acc": given})
        bits = requantizer.module.wires["y"].width
        answer = requantizer.value("y")
        answers = np.broadcast_to(np.asarray(as_signed(answer, bits) if self.shape.y_signed else answer), given.shape)
        return [int(y) for y in answers]

    def _lane(self, n: int, *, sums: Value, row_sum: int) -> Scope:
        """The lane that serves column `n` of Y at the time when it does."""
        tile, column = divmod(n, self.shape.cols)
        step, lane = divmod(column, self.lanes)
        return self._lane_at(lane, step, tile, sums=sums, row_sum=row_sum)

    def _lane_at(self, lane: int, step: int, tile: int, *, sums: Value, row_sum: int) -> Scope:
        # Of one net with two names Yosys keeps either.
        held = {"row_sum_held": row_sum, "row_sum_next": row_sum}
        index = tile << (self._interval - 1).bit_length() | step
        given = {"step": step, "tile": tile, "index": index, "row_sum": row_sum, "rst": 0} | held
        dense = self._dense.again({self._dense.connected("array", "sums"): sums})
        return dense.child(f"lane_{lane}", given)

    def _source_of(self, lane: int, step: int) -> int:
        """The column of the array whose sum `lane` reads at `step`: each column shows its own number there."""
        bits = self.accumulator_bits
        marks = sum((physical + 1) << (physical * bits) for physical in range(self._columns))
        unmarked, marked = (
            self._lane_at(lane, step, 0, sums=sums, row_sum=0).port("requantizer", "acc") for sums in (0, marks)
        )
        physical = int(marked - unmarked) % (1 << min(bits, self.sum_bits)) - 1
        if not 0 <= physical < self._columns:
            raise UnreadableError(f"lane {lane} reads no column of the array at step {step}")
        if self.has_row_sums:
            dense = self._dense.again({self._dense.connected("array", "sums"): marks})
            step_0 = dense.child(f"lane_{lane}", {"step": 0, "rst": 0})
            if step_0.value("row_sum") != 1 or physical == 0:
                raise UnreadableError(f"lane {lane} does not take its row sums from column 0 of the array")
        return physical

    def _check_outputs(self) -> None:
        """Lane l of a beat must be its output l, and every column of the array be read once."""
        if len(set(self._source.values())) != self.shape.cols:
            raise UnreadableError("two lanes read the same column of the array")
        bits = self._dense.port_width("lane_0", "y")
        nets = [self._dense.connected(f"lane_{lane}", "y") for lane in range(self.lanes)]
        marked = self._dense.again({net: (lane + 1) % (1 << bits) for lane, net in enumerate(nets)})
        expected = sum((lane + 1) % (1 << bits) << (lane * bits) for lane in range(self.lanes))
        if marked.port("result_buffer", "y") != expected:
            raise UnreadableError("the lanes' outputs do not enter the result buffer in order")
