"""Real average: the average of each window's pixels in float32, in their order, or their sum with weights, in lanes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..counter import count
from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .credit_pipeline import credit_depth
from .real_sum import ADDITION, RealSum
from .walk import Walk, numbered

__all__ = ["RealAverage"]


class RealAverage(wiring.Component):
    """A beat of results for each ``beats`` beats of ``i``, of one element to each of ``lanes``; ``last`` of the last.

    A beat enters every `ADDITION` cycles at most. The lanes are alike, and take codes of ``operand``. ``weights`` of
    the beats, where the lanes have any: [rows, columns, beats], each window of them ``groups`` times.
    """

    def __init__(
        self,
        lanes: Sequence[RealSum],
        operand: IntFormat,
        *,
        beats: int,
        cells: str,
        kind: str,
        weights: npt.NDArray[np.float32] | None = None,
        groups: int = 1,
    ) -> None:
        self.weights = weights
        self.groups = groups
        self.lanes = list(lanes)
        self.beats = beats
        self.kind = kind
        self.latency = lanes[0].latency
        made = y_beat(operand_shape(lanes[0].sums.output), len(lanes))
        self.fifo = Fifo(made, depth=credit_depth(self.latency), cells=cells)
        given = y_beat(operand_shape(operand), len(lanes))
        super().__init__({"i": In(stream.Signature(given)), "o": Out(stream.Signature(made))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        ended = line.steps(len(taken) // self.beats)
        ended.after_some(taken, self.latency, np.arange(len(ended)) * self.beats + self.beats - 1)
        left = self.fifo.timed(line, ended)
        paced = line.steps(len(taken), gap=ADDITION)
        paced.after(taken, 0)
        taken.after(paced, 0)
        taken.after_some(left, 2, np.arange(len(taken)) // self.beats - self.fifo.depth)
        return left

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fifo = place(self.fifo, platform)
        comes = Signal()
        rests = Signal()
        left = Signal()
        first = Signal(init=1)
        beat = count(m, self.beats, when=comes, name="beat")
        ends = Signal()
        m.d.comb += [ends.eq(comes & beat.last), comes.eq(self.i.valid & self.i.ready)]
        m.d.sync += [left.eq(self.fifo.o.valid & self.fifo.o.ready), rests.eq(comes)]
        room = Credit(m, self.fifo.depth, name="room", full=True, give=left, take=ends)
        m.d.comb += self.i.ready.eq(room.any & ~rests)
        with m.If(comes):
            m.d.sync += first.eq(beat.last)
        weight = {} if self.weights is None else self._weight(m, comes)
        result = Signal.like(Value.cast(self.fifo.i.payload))
        m.d.comb += [
            self.fifo.i.valid.eq(delay(m, ends, self.latency, name="under_way", reset_less=False)),
            Value.cast(self.fifo.i.payload).eq(result),
            result[-1].eq(delay(m, self.i.payload.last, self.latency, name="last")),
        ]
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.x.eq(Value.cast(self.i.payload.data[index])),
                lane.comes.eq(comes),
                lane.first.eq(first),
                *(getattr(lane, port).eq(value) for port, value in weight.items()),
                result[8 * index : 8 * index + 8].eq(lane.y),
            ]
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m

    def _weight(self, m: Module, comes: Value) -> dict[str, Signal]:
        """The ports of lanes that say the next beat's weight."""
        assert self.weights is not None  # noqa: S101 - asked for only then
        sums, (rows, columns, beats) = self.lanes[0].sums, self.weights.shape
        walk = Walk(m, [beats, self.groups, columns, rows], step=comes, name="weight")
        by_row, row_kinds = _kinds(self.weights)
        by_column, column_kinds = _kinds(self.weights.swapaxes(0, 1))
        row = numbered(m, walk.counts[3].value, by_row, name="row_kind")
        column = numbered(m, walk.counts[2].value, by_column, name="column_kind")
        beat = walk.counts[0].value
        found = []
        for right, below, index in np.ndindex(len(column_kinds), len(row_kinds), 1 << len(beat)):
            weight = float(self.weights[row_kinds[below], column_kinds[right], min(index, beats - 1)])
            found.append((*sums.weights.get(weight, (0, 0)), int(weight == 0)))
        place = Signal(range(len(found)), name="weight_place")
        m.d.comb += place.eq(((column * len(row_kinds) + row) << len(beat)) + beat)
        ports = {}
        for port, numbers in zip(("table", "shift", "zero"), zip(*found, strict=True), strict=True):
            ports[port] = Signal(range(max(numbers) + 1), name=f"next_{port}", init=numbers[0])
            m.d.sync += ports[port].eq(numbered(m, place, list(numbers), name=f"{port}_number"))
        return ports


def _kinds(weights: npt.NDArray[np.float32]) -> tuple[list[int], list[int]]:
    """For each of ``weights`` the number of its kind, and the first one of each kind."""
    kinds: dict[bytes, int] = {}
    numbers = [kinds.setdefault(each.tobytes(), len(kinds)) for each in weights]
    return numbers, [numbers.index(kind) for kind in range(len(kinds))]
