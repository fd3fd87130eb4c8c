"""Weight-stationary dataflow: weights stay in the array, rows of A pass over them, sums gather below.

    words of B -> WeightStationaryArray <- words of A;  partial sums -> Accumulator per column -> sums

Where it wins: M that does not fill groups of ``rows``, since no row is padded; and B that is read only once.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from .accumulator import Accumulator
from .config import EngineConfig, JobShape
from .dataflow import Dataflow
from .drain_control import DrainControl
from .loop import Countdown, Pace
from .operand_buffer import OperandBuffer
from .weight_array import WeightStationaryArray

__all__ = ["WeightStationary"]


class WeightStationary(Dataflow):
    """For each column tile, for each chunk of ``rows * depth`` elements of K: load weights, then pass a row of ones
    and M rows of A over them.

    The stream of A brings chunk after chunk of K, a word for each row of A: elements ``r * depth + i`` of the chunk in
    lane r. The stream of B is as with `OutputStationary`. The weights of the next chunk are loaded while this one
    works. The row of ones makes the column sums, the column of ones the row sums. Sums leave with the last chunk,
    ``interval`` cycles a row.
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
        return self.enter_latency + self.array.latency + 1 + 1

    def _chunks(self, shape: JobShape) -> int:
        return -(-shape.k // self.a_depth)

    def last_beat(self, shape: JobShape) -> int:
        chunks, interval = self._chunks(shape), self.config.interval
        lacking = max(Accumulator.again - 1 - shape.m, 0)
        words = [min(self.config.rows, shape.beats - chunk * self.config.rows) for chunk in range(chunks)]
        begins = OperandBuffer.latency + words[0]  # the row of ones of a chunk
        paced = 0  # when the drain takes another row
        for chunk in [*range(chunks)] * shape.column_tiles:
            final = chunk == chunks - 1
            begins = max(begins, paced) if final else begins
            last_row = begins + shape.m * (interval if final else 1)
            paced = last_row + interval if final else paced
            beat = begins
            begins = max(last_row + 1 + lacking, begins + 1 + words[(chunk + 1) % chunks])
        return beat

    def last_slot(self, shape: JobShape) -> int:
        return shape.m * self.config.interval

    @staticmethod
    def too_large(config: EngineConfig, module: Module, m: Value, k: Value, n: Value) -> list[tuple[Value, str]]:
        return [(m > config.max_rows, "TOO_MANY_ROWS")]

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
        beat = Countdown(m, self.k, config.depth, name="b_k", load=self.start)
        column = Countdown(m, self.n, config.cols, name="b_n", load=self.start)
        take = Signal()
        there = delay(m, self.b_coming, 1, name="b_there", reset_less=False)
        m.d.comb += [
            take.eq(loading & ~loaded & there),
            self.b_look.eq(take),
            self.b_read.eq(take),
            self.b_fresh.eq(1),
            self.b_release.eq(take),
        ]
        with m.If(swapped):
            m.d.sync += loaded.eq(0)
        with m.If(take):
            beat.advance()
            m.d.sync += [row.eq(row + 1), self.b_address.eq(self.b_address + 1)]
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
        load = delay(m, Cat(take, row), self.enter_latency, name="load", reset_less=False)
        m.d.comb += [array.load.eq(load[0]), array.load_row.eq(load[1:])]
        return loaded

    def _rows(self, m: Module, platform: object, loaded: Value, swapped: Signal) -> None:
        """Pass the row of ones and the rows of A over each chunk's weights, and gather the sums."""
        config, array = self.config, self.array
        running = Signal()
        ones = Signal(init=1)  # the row of ones is next
        row = Signal(range(config.max_rows + 1))  # 0: the row of ones
        chunk = Countdown(m, self.k, self.a_depth, name="k", load=self.start)
        column = Countdown(m, self.n, config.cols, name="n", load=self.start)
        a_base = Signal(range(config.a_words))  # address of the job's first word
        take = Signal()
        last_row = Signal()
        ends = Signal()  # of a chunk
        may_take = Signal()
        there = Signal()
        a_there = delay(m, self.a_coming, 1, name="a_there", reset_less=False)
        pace = Pace(m, config.interval, name="pace", begin=take & chunk.final)
        gap = self._gap(m, ends)
        m.d.comb += [
            may_take.eq(Mux(chunk.final, pace.over & (ones | self.credit), 1) & (~ones | gap)),
            there.eq(Mux(ones, loaded, a_there | ~column.initial)),
            take.eq(running & may_take & there),
            ends.eq(take & last_row),
            swapped.eq(take & ones),
            self.starved.eq(running & ~there),
            self.a_look.eq(self.a_read),
            self.a_read.eq(take & ~ones),
            self.a_fresh.eq(column.initial),
            self.a_release.eq(self.a_read & column.final),
            self.reserve.eq(self.a_read & chunk.final),
            self.rests.eq(pace.over),
        ]
        with m.If(take):
            m.d.sync += [ones.eq(0), row.eq(row + 1), last_row.eq(row + 1 == self.m)]
            a_next = (self.a_address + 1)[: len(a_base)]
            with m.If(~ones):
                m.d.sync += self.a_address.eq(a_next)
            with m.If(ends):
                m.d.sync += [ones.eq(1), row.eq(0), last_row.eq(0)]
                chunk.advance()
                with m.If(chunk.final):
                    m.d.sync += self.a_address.eq(Mux(column.final, a_next, a_base))
                    column.advance()
                    with m.If(column.final):
                        m.d.sync += [a_base.eq(a_next), running.eq(0)]
        with m.If(self.start):
            m.d.sync += running.eq(1)

        # Of the word that the buffer shows; none without one.
        fetch = BlockRam.latency_of(config.cells)
        keep = Value.cast(delay(m, Mux(take, chunk.inside, 0), fetch, name="keep", reset_less=False))
        self._enter_a(m, platform, keep, delay(m, ones, fetch, name="is_ones"))
        m.d.comb += array.swap.eq(delay(m, swapped, self.enter_latency, name="swap", reset_less=False))

        self._accumulate(m, platform, Cat(take, chunk.initial, row))
        wait = self.drain_start() - DrainControl.latency_of(config)
        m.d.comb += self.drain.eq(delay(m, take & chunk.final, wait, name="drain", reset_less=False))

    def _accumulate(self, m: Module, platform: object, control: Value) -> None:
        """The partial sums, gathered below each column. ``control``: a row is read, in the first chunk, which row."""
        config, array = self.config, self.array
        # The accumulators must know of a row before its partial sum leaves column 0.
        ahead = self.enter_latency + array.latency - BlockRam.latency_of(config.cells)
        control = delay(m, control, ahead, name="row", reset_less=False)
        valid, first, row_below = control[0], control[1], control[2:]
        for col in range(config.cols + 1):
            accumulator = Accumulator(config.max_rows + 1, cells=config.cells)
            m.submodules[f"accumulator_{col}"] = place(accumulator, platform)
            m.d.comb += [
                accumulator.partial.eq(array.sums[col]),
                accumulator.valid.eq(valid),
                accumulator.first.eq(first),
                accumulator.row.eq(row_below),
                self.sums[col].eq(accumulator.sum),
            ]
            valid, first, row_below = accumulator.valid_next, accumulator.first_next, accumulator.row_next

    def _gap(self, m: Module, ends: Value) -> Value:
        """True if enough time has passed since ``ends`` that no row returns too soon for the accumulators."""
        over = Signal(init=1, name="gap_over")
        left = Signal(range(Accumulator.again), name="gap_left", reset_less=True)
        lacking = Signal(range(Accumulator.again), reset_less=True)  # cycles, where a chunk has few rows
        most = Accumulator.again - 1
        m.d.sync += lacking.eq(Mux(self.m >= most, 0, most - self.m))
        with m.If(ends):
            m.d.sync += [left.eq(lacking), over.eq(lacking == 0)]
        with m.Elif(~over):
            m.d.sync += [left.eq(left - 1), over.eq(left == 1)]
        return over

    def _enter_a(self, m: Module, platform: object, keep: Value, is_ones: Value) -> None:
        """Enter the word of A, or ones if ``keep`` asks for them."""
        word = Signal(self.a_word.shape(), name="a_or_ones")
        one = Value.cast(self.a_unsigned << 7) ^ 1  # the sign flip of an unsigned A makes this a one
        for lane in range(self.config.rows):
            for i in range(self.config.depth):
                m.d.comb += Value.cast(word[lane][i]).eq(Mux(is_ones, one, Value.cast(self.a_word[lane][i])))
        self.enter(m, platform, "a", Const(0, self.config.depth), list(keep), self.array.a, word=word)
