"""Output-stationary dataflow: sums stay in the array until a tile is complete, both operands pass.

Tiler -> words of A and B -> Skew -> SystolicArray with a row and a column of ones -> sums
"""

from __future__ import annotations

from amaranth.hdl import Module, Value

from ..array import SystolicArray
from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from .config import EngineConfig, JobShape
from .dataflow import Dataflow
from .drain_control import DrainControl
from .operand_buffer import OperandBuffer
from .tiler import Tiler

__all__ = ["OutputStationary"]


class OutputStationary(Dataflow):
    """For each group of ``rows`` rows of A, for each column tile: a tile of K / ``depth`` beats.

    The stream of A holds the beats of one group after the other, the stream of B the beats of one column tile after the
    other. A group of A and all of B are read repeatedly. The row of ones makes the column sums, which drain first;
    float8 has no column sums.
    """

    kind = "output_stationary"
    b_resident = True
    per_slot = False

    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        self.array = SystolicArray(
            config.array, interval=config.interval, ones=config.ones > 0, broadcast=not config.pipelined
        )
        self.a_span = config.rows
        self.a_depth = config.depth
        self.slot_rows = config.rows
        self.tile_beats = config.rows * config.interval
        self.drain_cycles = config.drain_cycles

    @property
    def _held_back(self) -> int:
        """Cycles by which an array is quicker than the drain can be announced."""
        return max(DrainControl.latency_of(self.config) - self._first_sums, 0)

    @property
    def _first_sums(self) -> int:
        """Buffer read, entry register, array, [column of ones]; of float8 the first slot is the cycle before."""
        return self.enter_latency + self.array.latency + (1 if self.config.ones else -self.config.first_slot)

    def drain_start(self) -> int:
        return self._first_sums + self._held_back

    def last_beat(self, shape: JobShape) -> int:
        tiles = shape.groups * shape.column_tiles
        return OperandBuffer.latency + shape.beats - 1 + (tiles - 1) * shape.tile_cycles

    def rests_from(self, shape: JobShape) -> int:
        return self.last_beat(shape) + self.config.drain_cycles

    def last_slot(self, shape: JobShape) -> int:
        rows = shape.m - (shape.groups - 1) * self.config.rows
        return self.config.first_slot + (rows - 1) * self.config.interval

    @staticmethod
    def too_large(config: EngineConfig, module: Module, m: Value, k: Value, n: Value) -> list[tuple[Value, str]]:
        beyond = delay(module, k > config.a_words * config.depth, 1, name="k_beyond")
        several = delay(module, n > config.cols, 1, name="several_tiles")
        return [(beyond & several, "A_TOO_LARGE")]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        array = self.array
        m.submodules.array = place(array, platform)
        tiler = Tiler(self.config)
        m.submodules.tiler = place(tiler, platform)
        for name in ("start", "m", "k", "n", "a_coming", "b_coming", "credit"):
            m.d.comb += getattr(tiler, name).eq(getattr(self, name))
        for name in ("a_fresh", "b_fresh", "a_address", "b_address", "a_release", "b_release", "starved", "rests"):
            m.d.comb += getattr(self, name).eq(getattr(tiler, name))
        m.d.comb += [
            self.a_look.eq(tiler.a_there),
            self.b_look.eq(tiler.b_there),
            self.a_read.eq(tiler.take),
            self.b_read.eq(tiler.take),
            self.reserve.eq(tiler.last),
        ]

        # Of the word that the buffers show; none without one.
        fetch = BlockRam.latency_of(self.config.cells)
        drop = ~tiler.keep | ~tiler.take.replicate(self.config.depth)
        keep = ~delay(m, drop, fetch, name="drop")  # held so, it resets the entry registers without a lookup table
        self.enter(m, platform, "a", keep, list(keep), array.a, skewed=self.config.pipelined)
        self.enter(m, platform, "b", keep, list(keep), array.b, skewed=self.config.pipelined)
        enter = self.enter_latency
        m.d.comb += [
            array.first.eq(delay(m, tiler.first, enter, name="first")),
            array.last.eq(delay(m, tiler.last, enter, name="last", reset_less=False)),
            self.sums.eq(delay(m, array.sums, self._held_back, name="sums_late")),
        ]
        wait = self.drain_start() - DrainControl.latency_of(self.config)
        m.d.comb += self.drain.eq(delay(m, tiler.last, wait, name="drain", reset_less=False))
        return m
