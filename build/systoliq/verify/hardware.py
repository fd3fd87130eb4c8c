"""Contents of a dense layer's Verilog: weights, constants of each column, and the answers of its requantizer.

All of it is read from the text, by following nets from where they are used: the array's B operands back to the weight
memories, each requantizer's inputs back to the tables, the sums that a drain lane reads back to the array's columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .evaluate import Scope, Value, as_signed
from .expression import UnreadableError
from .lanes import Lanes
from .modules import Module

__all__ = ["Hardware", "Shape", "UnreadableError"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Parameters that name the parts: K x N on an array of `cols` columns, `depth` pairs a beat."""

    k: int
    n: int
    cols: int
    depth: int
    b_signed: bool
    y_signed: bool


class Hardware(Lanes):
    """The module `name` of these, a dense layer of the given `shape` or a stage that holds one."""

    def __init__(self, modules: Mapping[str, Module], name: str, shape: Shape) -> None:
        self.shape, self.b_signed, self.y_signed = shape, shape.b_signed, shape.y_signed
        self.core = Scope(modules, name).child("dense")
        instances = self.core.module.instances
        self.lanes = sum(instance.startswith("lane_") for instance in instances)
        self.has_row_sums = self.lanes > 0 and "row_sum" in instances["lane_0"].ports
        self._columns = shape.cols + self.has_row_sums
        columns = sum(name.startswith("column_") for name in self.core.child("array").module.instances)
        if columns not in (self._columns, -(-self._columns // 2)) or not self.lanes or shape.cols % self.lanes:
            raise UnreadableError(  # a cell may serve two columns
                f"an array of {columns} columns and {self.lanes} lanes do not make {shape.cols} columns"
            )
        if self.core.port_width("array", "sums") % self._columns:
            raise UnreadableError(f"the array does not show the sums of {self._columns} columns")
        self._interval = shape.cols // self.lanes
        self._source = {
            (lane, step): self._source_of(lane, step) for lane in range(self.lanes) for step in range(self._interval)
        }
        if len(set(self._source.values())) != shape.cols:
            raise UnreadableError("two lanes read the same column of the array")
        if self.has_row_sums:
            self._check_row_sums()
        self.check_outputs()

    @property
    def accumulator_bits(self) -> int:
        """Width of the array's sums."""
        return self.core.port_width("array", "sums") // self._columns

    @property
    def weight_bits(self) -> int:
        """Width of a stored weight."""
        return self.core.port_width("array", "b") // (self._columns * self.shape.depth)

    @property
    def a_width(self) -> int:
        """Bits of A that the array takes in a cycle."""
        return self.core.port_width("array", "a")

    def array(self, a_bits: int) -> dict[str, int]:
        """Sizes of the array, which takes `depth` operands of A of `a_bits` bits for each row."""
        rows, rest = divmod(self.a_width, a_bits * self.shape.depth)
        if rest:
            raise UnreadableError(f"takes A in {self.a_width} bits, which is not rows x depth x {a_bits}")
        return {"rows": rows, "cols": self.shape.cols, "depth": self.shape.depth}

    def weights(self) -> list[list[int]]:
        """Return the stored weights, [K][N]; raise UnreadableError if the words beyond K or N are not zero."""
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
        """The array's weights in a cycle without a beat of A."""
        return int(self._weight_words(0, taken=0))

    def _weight_words(self, address: Value, *, taken: int) -> Value:
        """The array's B operands; ``taken``: whether a beat of A comes with them."""
        return self.core.again({self.core.connected("sequencer", "address"): address, "taken": taken}).port(
            "array", "b"
        )

    def entering(self, words: Sequence[int]) -> list[int]:
        """The stored form of these words of A, with the flag that ends a batch above, if there is one."""
        keeper = "replay_buffer" if "replay_buffer" in self.core.module.instances else "sequencer"
        given = np.array(words, dtype=object)
        found = self.core.again({"a__payload": given}).port(keeper, "i__payload")
        return [int(word) for word in np.broadcast_to(np.asarray(found, object), given.shape)]

    @property
    def entrance_width(self) -> int:
        """Bits of an arriving word of A, without the flag that ends a batch."""
        return self.core.module.wires["a__payload"].width - 1

    def lane(self, n: int, *, sums: Value, row_sum: int) -> Scope:
        tile, column = divmod(n, self.shape.cols)
        step, lane = divmod(column, self.lanes)
        return self._lane_at(lane, step, tile, sums=sums, row_sum=row_sum)

    def _lane_at(self, lane: int, step: int, tile: int, *, sums: Value, row_sum: int) -> Scope:
        # Of one net with two names Yosys keeps either.
        held = {"row_sum_held": row_sum, "row_sum_next": row_sum}
        index = tile << (self._interval - 1).bit_length() | step
        given = {"step": step, "tile": tile, "index": index, "row_sum": row_sum, "rst": 0} | held
        dense = self.core.again({self.core.connected("array", "sums"): sums})
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
        if self.has_row_sums and physical == 0:
            raise UnreadableError(f"lane {lane} takes the array's column of row sums for one of the layer")
        return physical

    def _check_row_sums(self) -> None:
        """Each lane takes, in its first step, what column 0 of the array has, the first one itself, the others from the
        lane before: in that lane's first step its register takes it, too.
        """
        given: dict[str, Value] = {self.core.connected("array", "sums"): 1}
        for lane in range(self.lanes):
            step_0 = self.core.again(given).child(f"lane_{lane}", {"step": 0, "tile": 0, "index": 0, "rst": 0})
            if step_0.value("row_sum") != 1:
                raise UnreadableError(f"lane {lane} does not take its row sums from column 0 of the array")
            given[self.core.connected(f"lane_{lane}", "row_sum_next")] = step_0.value("row_sum_next")
