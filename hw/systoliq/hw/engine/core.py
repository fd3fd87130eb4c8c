"""The engine's core: intake, loaders, buffers, dataflow and lanes of one job after the other, without the bus.

a, b -> Loader -> OperandBuffer -> OutputStationary or WeightStationary -> EngineLane... -> ResultBuffer -> y
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..delay import delay
from ..delay_line import DelayLine
from ..hierarchy import place
from ..result_buffer import ResultBuffer
from .config import EngineConfig, JobShape
from .drain_control import DrainControl
from .engine_lane import EngineLane, LaneRow
from .float8_lane import Float8EngineLane
from .intake import LENGTHS, Intake, lengths_of
from .loader import Loader, operand_word
from .operand_buffer import OperandBuffer
from .output_stationary import OutputStationary
from .weight_stationary import WeightStationary

__all__ = ["EngineCore", "job_settings"]

_DATAFLOWS = {"output-stationary": OutputStationary, "weight-stationary": WeightStationary}

_OF_INTEGERS = {
    "a_unsigned": 1,
    "b_unsigned": 1,
    "y_unsigned": 1,
    "y_int32": 1,
    "row_zero_points": 1,
    "a_zero_point": signed(8),
    "y_zero_point": signed(8),
}


def job_settings(config: EngineConfig) -> data.StructLayout:
    """The settings of a job, which must not change from its start to its end. Zero points are less 128 where their
    operand is unsigned.
    """
    entries = {"first_column": unsigned((config.table_words - 1).bit_length())}
    if config.float8:
        return data.StructLayout(LENGTHS | entries)
    return data.StructLayout(
        LENGTHS | entries | _OF_INTEGERS | {"first_row": unsigned((config.max_rows - 1).bit_length())}
    )


def engine_flags(lanes: int) -> data.StructLayout:
    """Flags of a beat of results: end of tile, end of job, and the number of lanes with a result."""
    return data.StructLayout({"last": 1, "tile_last": 1, "columns": unsigned(lanes.bit_length())})


class EngineCore(wiring.Component):
    """Runs a job from ``start`` to ``done``, one cycle each, with the settings in ``job``.

    Before its start, each job is offered: from ``offer`` until its ``start``, which comes in the cycle after the last
    of ``offer`` and after the ``done`` of the job before, ``next`` has its lengths. Its words are taken while the job
    before computes; what is wrong with it is reported after its start.

    Streams: a word of A is ``rows`` x ``depth`` elements, the beats of one group of rows after the other. A word of B
    is ``cols`` x ``depth`` elements, in the order of the *array's* columns (see `physical_column`), the beats of one
    column tile after the other. ``last`` marks the last word of each. Y comes row by row of a tile, ``lanes`` results a
    beat; the first ``flags.columns`` are valid.

    ``error`` shows a code of `ERRORS` for a cycle, a few cycles after the error. From then on, ``failed`` is 1 and
    streams stop until reset. ``done`` comes when the next job may start: all results have left, and the job's settings,
    tables and registers are no longer used. ``closes`` comes in the cycle before a reset: no word is taken in the cycle
    of the reset.
    """

    kind = "core"

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.dataflow = _DATAFLOWS[config.dataflow](config)
        self.intake = Intake(config, type(self.dataflow))
        lane = Float8EngineLane if config.float8 else EngineLane
        self.lanes = [lane(config) for _ in range(config.lanes)]
        dataflow = self.dataflow
        # From a tile's last beat to its credit's return, and to where the dataflow sees that.
        out = self.lanes[0].latency + ResultBuffer.latency_of(config.cells) + 2
        flight = dataflow.drain_start() + config.cols + dataflow.tile_beats + out
        self.result_buffer = ResultBuffer(
            self.lanes[0].y.shape(),
            engine_flags(config.lanes),
            lanes=config.lanes,
            tile_beats=dataflow.tile_beats,
            tiles=1 + -(-flight // dataflow.drain_cycles),
            cells=config.cells,
        )
        super().__init__(
            {
                "offer": In(1),
                "next": In(lengths_of(config)),
                "job": In(job_settings(config)),
                "start": In(1),
                "closes": In(1),
                "done": Out(1),
                "error": Out(8),
                "failed": Out(1),
                "input_stall": Out(1),
                "a": In(stream.Signature(operand_word(dataflow.a_word.shape()))),
                "b": In(stream.Signature(operand_word(dataflow.b_word.shape()))),
                "y": Out(stream.Signature(self.result_buffer.o.payload.shape())),
                **({} if config.float8 else _row_table(config)),
                "column_write": In(config.lanes),
                "column_address": In(range(config.table_words)),
                "column_value": In(self.lanes[0].column_value.shape()),
            }
        )

    def cycles(self, shape: JobShape) -> int:
        """Cycle model: from the first word of A or B taken to the last beat of Y taken, both included, unstalled.

        A and B are taken from the same cycle on, one word a cycle.
        """
        config, dataflow = self.config, self.dataflow
        columns = shape.n - (shape.column_tiles - 1) * config.cols
        last_step = dataflow.last_slot(shape) + -(-columns // config.lanes) - 1
        across = (config.lanes - 1) * config.interval
        drained = dataflow.last_beat(shape) + dataflow.drain_start() + last_step + across
        return drained + self.lanes[0].latency + ResultBuffer.latency_of(config.cells) + 1

    def free_after(self, shape: JobShape) -> int:
        """Cycle model: from the first word of A or B taken to ``done``, unstalled."""
        return max(self.cycles(shape), self.dataflow.rests_from(shape))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        job, intake, dataflow, buffer = self.job, self.intake, self.dataflow, self.result_buffer
        m.submodules.intake = place(intake, platform)
        m.submodules.dataflow = place(dataflow, platform)
        m.submodules.result_buffer = place(buffer, platform)
        m.d.comb += [
            intake.offer.eq(self.offer),
            intake.next.eq(self.next),
            intake.start.eq(self.start),
            self.error.eq(intake.error),
            self.failed.eq(intake.failed),
            dataflow.start.eq(intake.begin),
            dataflow.m.eq(job.m),
            dataflow.k.eq(job.k),
            dataflow.n.eq(job.n),
            dataflow.credit.eq(buffer.credit),
            buffer.reserve.eq(dataflow.reserve),
            self.input_stall.eq(dataflow.starved),
        ]
        self._load(m, platform)
        self._drain(m, platform, intake.begin)

        # A job ends when its last result has left and the array, which may still drain unused rows, is free.
        wiring.connect(m, buffer.o, wiring.flipped(self.y))
        last_left = Signal()
        ended = Signal()
        with m.If(self.y.valid & self.y.ready & self.y.payload.flags.last):
            m.d.sync += last_left.eq(1)
        m.d.comb += [ended.eq(last_left & dataflow.rests & ~self.failed), self.done.eq(ended)]
        with m.If(ended):
            m.d.sync += last_left.eq(0)
        return m

    def _load(self, m: Module, platform: object) -> None:
        """Words from the streams into the operand buffers, and from there to the dataflow."""
        config, dataflow, intake, lengths = self.config, self.dataflow, self.intake, self.intake.lengths
        for index, (name, span, depth, words, length) in enumerate(
            (
                ("a", dataflow.a_span, dataflow.a_depth, config.a_words, lengths.m),
                ("b", config.cols, config.depth, config.b_words, lengths.n),
            )
        ):
            word = getattr(dataflow, f"{name}_word").shape()
            loader = Loader(word, span=span, depth=depth, kind=f"{name}_loader")
            buffer = OperandBuffer(word, depth=words, cells=config.cells, kind=f"{name}_buffer")
            m.submodules[f"{name}_loader"] = place(loader, platform)
            m.submodules[f"{name}_buffer"] = place(buffer, platform)
            wiring.connect(m, wiring.flipped(getattr(self, name)), loader.i)
            m.d.comb += [
                loader.start.eq(intake.load),
                loader.halt.eq(intake.halt | self.closes),
                loader.length.eq(length),
                loader.k.eq(lengths.k),
                intake.loading[index].eq(loader.active),
                intake.early[index].eq(loader.early),
                intake.late[index].eq(loader.late),
                loader.room.eq(buffer.room),
                loader.more.eq(buffer.more),
                buffer.put.eq(loader.put),
                Value.cast(buffer.i).eq(Value.cast(loader.o)),
                getattr(dataflow, f"{name}_coming").eq(buffer.coming),
                buffer.look.eq(getattr(dataflow, f"{name}_look")),
                buffer.read.eq(getattr(dataflow, f"{name}_read")),
                buffer.fresh.eq(getattr(dataflow, f"{name}_fresh")),
                buffer.address.eq(getattr(dataflow, f"{name}_address")),
                buffer.release.eq(getattr(dataflow, f"{name}_release")),
                getattr(dataflow, f"{name}_word").eq(buffer.word),
            ]
            if index == dataflow.b_resident:
                m.d.comb += intake.put.eq(loader.put)

    def _drain(self, m: Module, platform: object, begin: Value) -> None:
        """Sums from the array through the lanes to the result buffer."""
        config, job, buffer = self.config, self.job, self.result_buffer
        dataflow = self.dataflow
        control = DrainControl(config, rows=dataflow.slot_rows, per_slot=dataflow.per_slot)
        m.submodules.drain_control = place(control, platform)
        m.d.comb += [
            control.begin.eq(begin),
            control.start.eq(dataflow.drain),
            control.m.eq(job.m),
            control.n.eq(job.n),
            control.first_column.eq(job.first_column),
        ]
        row: Value = Const(0) if config.float8 else self._context(m, control)
        step = Signal(self.lanes[0].step.shape())
        m.d.comb += [step[name].eq(control.step[name]) for name in step.shape().members]
        # The flags of a result are known from its step on: they bypass the lanes, which hold data only.
        push = control.step.push
        flags = Signal(buffer.flags.shape())
        wait = self.lanes[0].latency
        settings: Value = Const(0) if config.float8 else Cat(job.y_unsigned, job.y_int32, job.y_zero_point)
        m.d.comb += [flags[name].eq(control.step[name]) for name in flags.shape().members]
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            push = delay(m, push, config.interval if index else wait, name=f"push_{index}", reset_less=False)
            m.d.comb += lane.step.eq(step)
            if isinstance(lane, EngineLane):
                settings = delay(m, settings, int(config.pipelined), name=f"settings_{index}")  # steady: no way is long
                m.d.comb += [lane.row.eq(row), Cat(lane.y_unsigned, lane.int32, lane.zero_point).eq(settings)]
                row = lane.row_next
            m.d.comb += [
                lane.column_write.eq(self.column_write[index]),
                lane.column_address.eq(self.column_address),
                lane.column_value.eq(self.column_value),
                buffer.push[index].eq(push),
                buffer.y[index].eq(lane.y),
            ]
            for i in range(config.interval):
                m.d.comb += lane.sums[i].eq(dataflow.sums[config.ones + index * config.interval + i])
            step = lane.step_next
        wait += (config.lanes - 1) * config.interval
        if config.pipelined:
            line = DelayLine(flags.shape(), cycles=wait, cells=config.cells)
            m.submodules.flags = place(line, platform)
            m.d.comb += [line.i.eq(flags), buffer.flags.eq(line.o)]
        else:
            m.d.comb += buffer.flags.eq(delay(m, Value.cast(flags), wait, name="flags"))

    def _context(self, m: Module, control: DrainControl) -> Value:
        """The row at hand, as lanes of integers need it: its zero point and its sum; and the signs of A and B."""
        job, dataflow = self.job, self.dataflow
        m.d.comb += [
            dataflow.a_unsigned.eq(job.a_unsigned),
            dataflow.b_unsigned.eq(job.b_unsigned),
            control.k.eq(job.k),
            control.per_row.eq(job.row_zero_points),
            control.zero_point.eq(job.a_zero_point),
            control.first_row.eq(job.first_row),
            control.row_write.eq(self.row_write),
            control.row_address.eq(self.row_address),
            control.row_value.eq(self.row_value),
        ]
        row = Signal(LaneRow, reset_less=True)
        m.d.sync += [
            row.zero_point.eq(control.row.zero_point),
            row.row_sum.eq(dataflow.sums[0] - control.row.k_zero_point),
        ]
        return row


def _row_table(config: EngineConfig) -> dict[str, wiring.Member]:
    """Ports that write the row table."""
    return {"row_write": In(1), "row_address": In(range(config.max_rows)), "row_value": In(signed(8))}
