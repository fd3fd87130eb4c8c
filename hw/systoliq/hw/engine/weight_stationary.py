"""Weight-stationary dataflow: weights stay in the array, rows of A pass over them, sums gather below.

    words of B -> WeightStationaryArray <- words of A;  partial sums -> Accumulator per column -> sums

Where it wins: M that does not fill groups of ``rows``, since no row is padded; and B that is read only once.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from ..delay import delay
from ..hierarchy import place
from .accumulator import Accumulator
from .config import EngineConfig, JobShape
from .dataflow import Dataflow
from .drain_control import DrainControl
from .loop import Countdown
from .operand_buffer import OperandBuffer
from .weight_array import WeightStationaryArray

__all__ = ["WeightStationary"]


class WeightStationary(Dataflow):
    """For each column tile, for each chunk of ``rows * depth`` elements of K: load weights, then pass a row of ones
    and M rows of A over them.

    The stream of A brings chunk after chunk of K, a word for each row of A: elements ``r * depth + i`` of the chunk in
    lane r. That of B is as with `OutputStationary`. The weights of the next chunk are loaded while this one works. The
    row of ones makes the column sums, the column of ones the row sums. Sums leave with the last chunk, ``interval``
    cycles a row.
    """

    kind = "weight_stationary"
    b_resident = False
    per_slot = True

    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        self.array = WeightStationaryArray(config.array.replace(rows=config.rows))
        self.a_span = 1
        self.a_depth = config.rows * config.depth
        self.slot_rows = config.max_rows
        self.tile_beats = config.interval
        self.drain_cycles = config.interval

    def drain_start(self) -> int:
        """Buffer read, entry register, array, accumulator, column of ones."""
        return 2 + self.array.latency + 1 + 1

    def _chunks(self, shape: JobShape) -> int:
        return -(-shape.k // self.a_depth)

    def last_beat(self, shape: JobShape) -> int:
        chunks, interval = self._chunks(shape), self.config.interval
        words = [min(self.config.rows, shape.beats - chunk * self.config.rows) for chunk in range(chunks)]
        begins = OperandBuffer.latency + words[0]  # the row of ones of the first chunk
        for tile in range(shape.column_tiles):
            for chunk in range(chunks):
                if (tile, chunk) == (shape.column_tiles - 1, chunks - 1):
                    break
                following = (chunk + 1) % chunks
                spread = interval if chunk == chunks - 1 else 1
                to_next = interval if following == chunks - 1 and chunk == chunks - 1 else 1
                begins += max(shape.m * spread + to_next, 1 + words[following])
        return begins

    def last_slot(self, shape: JobShape) -> int:
        return shape.m * self.config.interval

    def too_large(self, m: Value, k: Value, n: Value) -> list[tuple[Value, str]]:
        return [(m > self.config.max_rows, "TOO_MANY_ROWS")]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        array = self.array
        m.submodules.array = place(array, platform)
        swapped = Signal()
        loaded = self._weights(m, platform, swapped)
        self._rows(m, platform, loaded, swapped)
        return m

    def _weights(self, m: Module, platform: object, swapped: Value) -> Value:
        """Load chunk after chunk; gives whether the next one is complete. ``swapped``: it is in use from now on."""
        config, array = self.config, self.array
        loading = Signal()
        loaded = Signal()
        row = Signal(range(config.rows))
        beat = Countdown(m, self.k, config.depth, name="b_k")
        column = Countdown(m, self.n, config.cols, name="b_n")
        take = Signal()
        m.d.comb += [
            take.eq(loading & ~loaded & self.b_available),
            self.b_read.eq(take),
            self.b_release.eq(take),
        ]
        with m.If(swapped):
            m.d.sync += loaded.eq(0)
        with m.If(take):
            beat.advance()
            m.d.sync += row.eq(row + 1)
            with m.If(beat.final | (row == config.rows - 1)):
                m.d.sync += [row.eq(0), loaded.eq(1)]
            with m.If(beat.final):
                column.advance()
                with m.If(column.final):
                    m.d.sync += loading.eq(0)
        with m.If(self.start):
            m.d.sync += loading.eq(1)
        # Elements of a word beyond K meet zeros of A; so do words that a last chunk lacks.
        self.enter(m, platform, "b", Const(-1, config.depth), [Const(1)], array.b)
        load = delay(m, Cat(take, row), 2, name="load")
        m.d.comb += [array.load.eq(load[0]), array.load_row.eq(load[1:])]
        return loaded

    def _rows(self, m: Module, platform: object, loaded: Value, swapped: Signal) -> None:
        """Pass the row of ones and the rows of A over each chunk's weights, and gather the sums."""
        config, array = self.config, self.array
        running = Signal()
        ones = Signal(init=1)  # the row of ones is next
        row = Signal(range(config.max_rows + 1))  # 0: the row of ones
        chunk = Countdown(m, self.k, self.a_depth, name="k")
        column = Countdown(m, self.n, config.cols, name="n")
        a_offset = Signal(range(config.a_words))
        pace = Signal(range(config.interval))
        take = Signal()
        may_drain = Signal()
        m.d.comb += [
            may_drain.eq(~chunk.final | ((pace == 0) & (ones | self.credit))),
            take.eq(running & may_drain & Mux(ones, loaded, self.a_available)),
            swapped.eq(take & ones),
            self.starved.eq(running & ~Mux(ones, loaded, self.a_available)),
            self.a_offset.eq(a_offset),
            self.a_read.eq(take & ~ones),
            self.a_release.eq(self.a_read & column.final),
            self.reserve.eq(self.a_read & chunk.final),
        ]
        with m.If(pace != 0):
            m.d.sync += pace.eq(pace - 1)
        with m.If(take):
            m.d.sync += [ones.eq(0), row.eq(row + 1)]
            with m.If(chunk.final):
                m.d.sync += pace.eq(config.interval - 1)
            with m.If(self.a_read & ~column.final):
                m.d.sync += a_offset.eq(a_offset + 1)
            with m.If(row == self.m):
                m.d.sync += [ones.eq(1), row.eq(0)]
                chunk.advance()
                with m.If(chunk.final):
                    m.d.sync += a_offset.eq(0)
                    column.advance()
                    with m.If(column.final):
                        m.d.sync += running.eq(0)
        with m.If(self.start):
            m.d.sync += running.eq(1)

        elements = config.rows * config.depth
        inside = Cat(chunk.taken > Const(i, chunk.taken.shape()) for i in range(elements))
        keep = Signal(elements)  # of the word that the buffer shows now; 0 without one
        is_ones = Signal()
        m.d.sync += [keep.eq(Mux(take, inside, 0)), is_ones.eq(ones)]
        self._enter_a(m, platform, keep, is_ones)
        m.d.comb += array.swap.eq(delay(m, swapped, 2, name="swap"))

        # One cycle before its partial sum leaves column 0 the accumulators must know of a row.
        control = Cat(take, chunk.initial, row)
        control = delay(m, control, 1 + array.latency, name="row", reset_less=False)
        valid, first, row_below = control[0], control[1], control[2:]
        for col in range(config.cols + 1):
            accumulator = Accumulator(config.max_rows + 1)
            m.submodules[f"accumulator_{col}"] = place(accumulator, platform)
            m.d.comb += [
                accumulator.partial.eq(array.sums[col]),
                accumulator.valid.eq(valid),
                accumulator.first.eq(first),
                accumulator.row.eq(row_below),
                self.sums[col].eq(accumulator.sum),
            ]
            valid, first, row_below = accumulator.valid_next, accumulator.first_next, accumulator.row_next
        token = take & chunk.final
        m.d.comb += self.drain.eq(
            delay(m, token, self.drain_start() - DrainControl.latency, name="drain", reset_less=False)
        )

    def _enter_a(self, m: Module, platform: object, keep: Signal, is_ones: Value) -> None:
        """The word of A, or ones, where ``keep`` says so."""
        word = Signal(self.a_word.shape(), name="a_or_ones")
        one = Value.cast(self.a_unsigned << 7) ^ 1  # what the sign flip of an unsigned A makes a one
        for lane in range(self.config.rows):
            for i in range(self.config.depth):
                m.d.comb += Value.cast(word[lane][i]).eq(Mux(is_ones, one, Value.cast(self.a_word[lane][i])))
        self.enter(m, platform, "a", Const(0, self.config.depth), list(keep), self.array.a, word=word)
