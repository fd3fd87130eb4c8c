"""The engine's core: loaders, buffers, tiler, array and lanes of one job after the other, without the bus.

a -> Loader -> OperandBuffer -\\                  /-> column of ones: row sums
b -> Loader -> OperandBuffer --> Tiler, SystolicArray -> EngineLane... -> ResultBuffer -> y
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import INT8

from ..array import SystolicArray
from ..delay import delay
from ..hierarchy import place
from ..mac import operand_layout
from ..result_buffer import ResultBuffer
from ..skew import Skew
from .config import EngineConfig, JobShape
from .drain_control import DrainControl
from .lane import EngineLane, column_entry, engine_flags
from .loader import Loader, operand_word
from .operand_buffer import OperandBuffer
from .registers import ERRORS
from .tiler import Tiler

__all__ = ["EngineCore", "job_settings"]

job_settings = data.StructLayout(
    {
        "m": unsigned(16),
        "k": unsigned(16),
        "n": unsigned(16),
        "a_unsigned": 1,
        "b_unsigned": 1,
        "y_unsigned": 1,
        "y_int32": 1,
        "row_zero_points": 1,
        "a_zero_point": signed(8),
        "y_zero_point": signed(8),
    }
)
"""What a job is; must not change while one runs. Zero points are less 128 where their operand is unsigned."""


class EngineCore(wiring.Component):
    """Runs a job from ``start`` to ``done`` (one cycle each).

    Streams: a word of A is ``rows`` x ``depth`` elements, beat t of a group of rows after the other; a word of B is
    ``cols`` x ``depth`` elements, lane by lane of the *array's* columns (see `physical_column`), beat t of a column tile
    after the other; ``last`` on the last word of each. Y: rows of a tile after each other, ``lanes`` results a beat, of
    which the first ``flags.columns`` count.

    ``error`` shows a code of `ERRORS` in the cycle of an error. But for a start while busy, ``failed`` is then 1, streams
    stand still, and only reset ends it.
    """

    kind = "core"

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.array = SystolicArray(config.array, interval=config.interval)
        self.lanes = [EngineLane(config) for _ in range(config.lanes)]
        self._a_word = data.ArrayLayout(operand_layout(INT8, config.depth), config.rows)
        self._b_word = data.ArrayLayout(operand_layout(INT8, config.depth), config.cols)
        flight = (
            self._drain_start + config.cols - 1 + config.drain_cycles + self.lanes[0].latency + ResultBuffer.latency
        )
        self.result_buffer = ResultBuffer(
            unsigned(32),
            engine_flags(config.lanes),
            lanes=config.lanes,
            tile_beats=config.rows * config.interval,
            tiles=1 + -(-flight // config.drain_cycles),
        )
        super().__init__(
            {
                "job": In(job_settings),
                "start": In(1),
                "busy": Out(1),
                "done": Out(1),
                "error": Out(8),
                "failed": Out(1),
                "input_stall": Out(1),
                "a": In(stream.Signature(operand_word(self._a_word))),
                "b": In(stream.Signature(operand_word(self._b_word))),
                "y": Out(stream.Signature(self.result_buffer.o.payload.shape())),
                "row_write": In(1),
                "row_address": In(range(config.max_rows)),
                "row_value": In(signed(8)),
                "column_write": In(config.lanes),
                "column_address": In(range(config.table_words)),
                "column_value": In(column_entry),
            }
        )

    @property
    def _drain_start(self) -> int:
        """Cycles from a tile's last beat at the tiler to lane 0: buffer read, entry register, array, column of ones."""
        return 2 + self.array.latency + 1

    def cycles(self, shape: JobShape) -> int:
        """Cycle model: from the first word of A or B taken to the last beat of Y taken, both included, unstalled.

        A and B are taken from the same cycle on, one word a cycle.
        """
        config = self.config
        tiles = shape.groups * shape.column_tiles
        rows = shape.m - (shape.groups - 1) * config.rows
        columns = shape.n - (shape.column_tiles - 1) * config.cols
        last_beat = OperandBuffer.latency + shape.beats - 1 + (tiles - 1) * shape.tile_cycles
        across = (config.lanes - 1) * config.interval
        slot = rows * config.interval + -(-columns // config.lanes) - 1
        return last_beat + self._drain_start + slot + across + self.lanes[0].latency + ResultBuffer.latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, job = self.config, self.job
        error = Signal(8)
        failed = Signal()
        running = Signal()
        accepted = Signal()
        wrong = Signal(8)
        self._check(m, wrong)
        m.d.comb += [
            accepted.eq(self.start & ~running & ~failed & (wrong == 0)),
            self.busy.eq(running),
            self.error.eq(error),
            self.failed.eq(failed),
        ]
        with m.If((error != 0) & ~running | (error != 0) & ~self.start):
            m.d.sync += failed.eq(1)  # a start while busy alone does no harm

        # Operands come in.
        a_loader = Loader(self._a_word, span=config.rows, depth=config.depth, kind="a_loader")
        b_loader = Loader(self._b_word, span=config.cols, depth=config.depth, kind="b_loader")
        a_buffer = OperandBuffer(self._a_word, depth=config.a_words, kind="a_buffer")
        b_buffer = OperandBuffer(self._b_word, depth=config.b_words, kind="b_buffer")
        for name, loader, buffer, length in (
            ("a", a_loader, a_buffer, job.m),
            ("b", b_loader, b_buffer, job.n),
        ):
            m.submodules[f"{name}_loader"] = place(loader, platform)
            m.submodules[f"{name}_buffer"] = place(buffer, platform)
            port = wiring.flipped(getattr(self, name))
            wiring.connect(m, port, loader.i)
            wiring.connect(m, loader.o, buffer.i)
            m.d.comb += [
                loader.start.eq(accepted),
                loader.halt.eq(failed),
                loader.length.eq(length),
                loader.k.eq(job.k),
            ]

        # B that is read again must fit: one word more than there is room for would never come in.
        b_held = Signal(range(config.b_words + 1))
        b_stuck = Signal()
        m.d.comb += b_stuck.eq((b_held == config.b_words) & b_loader.active & (job.m > config.rows))
        with m.If(accepted):
            m.d.sync += b_held.eq(0)
        with m.Elif(b_loader.o.valid & b_loader.o.ready & (b_held != config.b_words)):
            m.d.sync += b_held.eq(b_held + 1)

        with m.If(self.start & (running | failed)):
            m.d.comb += error.eq(ERRORS["START_WHILE_BUSY"][0])
        with m.Elif(self.start):
            m.d.comb += error.eq(wrong)
        with m.Elif(a_loader.early):
            m.d.comb += error.eq(ERRORS["A_ENDED_EARLY"][0])
        with m.Elif(a_loader.late):
            m.d.comb += error.eq(ERRORS["A_ENDED_LATE"][0])
        with m.Elif(b_loader.early):
            m.d.comb += error.eq(ERRORS["B_ENDED_EARLY"][0])
        with m.Elif(b_loader.late):
            m.d.comb += error.eq(ERRORS["B_ENDED_LATE"][0])
        with m.Elif(b_stuck & ~failed):
            m.d.comb += error.eq(ERRORS["B_TOO_LARGE"][0])

        # Tiles go through the array.
        tiler = Tiler(config)
        m.submodules.tiler = place(tiler, platform)
        buffer = self.result_buffer
        m.submodules.result_buffer = place(buffer, platform)
        m.d.comb += [
            tiler.start.eq(accepted),
            tiler.m.eq(job.m),
            tiler.k.eq(job.k),
            tiler.n.eq(job.n),
            tiler.credit.eq(buffer.credit),
            buffer.reserve.eq(tiler.last),
            self.input_stall.eq(tiler.starved),
        ]
        for name, operand in (("a", a_buffer), ("b", b_buffer)):
            m.d.comb += [
                getattr(tiler, f"{name}_available").eq(operand.available),
                operand.offset.eq(getattr(tiler, f"{name}_offset")),
                operand.read.eq(tiler.take),
                operand.release.eq(getattr(tiler, f"{name}_release")),
            ]
        self._feed(m, platform, tiler, a_buffer, b_buffer)
        self._drain(m, platform, tiler)

        finished = Signal()
        m.d.comb += [finished.eq(buffer.o.valid & buffer.o.ready & buffer.o.payload.flags.last), self.done.eq(finished)]
        wiring.connect(m, buffer.o, wiring.flipped(self.y))
        with m.If(accepted):
            m.d.sync += running.eq(1)
        with m.Elif(finished):
            m.d.sync += running.eq(0)
        return m

    def _check(self, m: Module, wrong: Signal) -> None:
        """The code of what is wrong with the job as a whole, or 0."""
        config, job = self.config, self.job
        with m.If((job.m == 0) | (job.k == 0) | (job.n == 0)):
            m.d.comb += wrong.eq(ERRORS["ILLEGAL_SHAPE"][0])
        with m.Elif((job.n > config.cols) & (job.k > config.a_words * config.depth)):
            m.d.comb += wrong.eq(ERRORS["A_TOO_LARGE"][0])
        with m.Elif(job.n > config.max_columns):
            m.d.comb += wrong.eq(ERRORS["TOO_MANY_COLUMNS"][0])
        with m.Elif(job.row_zero_points & (job.m > config.max_rows)):
            m.d.comb += wrong.eq(ERRORS["TOO_MANY_ROWS"][0])

    def _feed(
        self, m: Module, platform: object, tiler: Tiler, a_buffer: OperandBuffer, b_buffer: OperandBuffer
    ) -> None:
        """Words from the buffers into the array: sign flip, zeros beyond K and between beats, ones at the edges."""
        config, job = self.config, self.job
        array = self.array
        m.submodules.array = place(array, platform)
        first = Signal()
        last = Signal()
        keep = Signal(config.depth)  # of the word that the buffers show now; 0 without one
        m.d.sync += [first.eq(tiler.first), last.eq(tiler.last), keep.eq(Mux(tiler.take, tiler.keep, 0))]

        entries = {}
        for name, operand, unsigned_bit, lanes, side in (
            ("a", a_buffer, job.a_unsigned, config.rows, array.a),
            ("b", b_buffer, job.b_unsigned, config.cols, array.b),
        ):
            entry = Signal(side.shape(), name=f"{name}_entry", reset_less=True)
            for i in range(config.depth):
                ones = entry[0][i]
                m.d.sync += ones.eq(keep[i])
                for lane in range(lanes):
                    flipped = Value.cast(operand.word[lane][i]) ^ Cat(Const(0, 7), unsigned_bit)
                    m.d.sync += entry[lane + 1][i].eq(Mux(keep[i], flipped, 0).as_signed())
            entries[name] = entry
            skew = Skew(side.shape(), kind=f"skew_{name}")
            m.submodules[f"skew_{name}"] = place(skew, platform)
            m.d.comb += [skew.word.eq(entry), side.eq(skew.out)]
        m.d.comb += [
            array.first.eq(delay(m, first, 1, name="first")),
            array.last.eq(delay(m, last, 1, name="last", reset_less=False)),
        ]

    def _drain(self, m: Module, platform: object, tiler: Tiler) -> None:
        """Sums from the array through the lanes to the result buffer."""
        config, job, buffer = self.config, self.job, self.result_buffer
        control = DrainControl(config)
        m.submodules.drain_control = place(control, platform)
        m.d.comb += [
            control.start.eq(
                delay(m, tiler.last, self._drain_start - DrainControl.latency, name="token", reset_less=False)
            ),
            control.m.eq(job.m),
            control.k.eq(job.k),
            control.n.eq(job.n),
            control.per_row.eq(job.row_zero_points),
            control.zero_point.eq(job.a_zero_point),
            control.row_write.eq(self.row_write),
            control.row_address.eq(self.row_address),
            control.row_value.eq(self.row_value),
        ]
        row_sum = Signal(signed(32), reset_less=True)
        m.d.sync += row_sum.eq(self.array.sums[0])
        step, row = control.step, Signal(self.lanes[0].row.shape())
        m.d.comb += [
            row.zero_point.eq(control.row.zero_point),
            row.row_sum.eq(row_sum - control.row.k_zero_point),
        ]
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.step.eq(step),
                lane.row.eq(row),
                lane.y_unsigned.eq(job.y_unsigned),
                lane.int32.eq(job.y_int32),
                lane.zero_point.eq(job.y_zero_point),
                lane.column_write.eq(self.column_write[index]),
                lane.column_address.eq(self.column_address),
                lane.column_value.eq(self.column_value),
                buffer.push[index].eq(lane.push),
                buffer.y[index].eq(lane.y),
            ]
            for i in range(config.interval):
                m.d.comb += lane.sums[i].eq(self.array.sums[1 + index * config.interval + i])
            step, row = lane.step_next, lane.row_next
        m.d.comb += buffer.flags.eq(self.lanes[-1].flags)
