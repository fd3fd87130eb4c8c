"""The dense layer: constant weights, bias and requantization around a systolic array.

Rows of A stream in, rows of Y stream out:

    a -> [Centring] -> [ReplayBuffer] -> Sequencer -> Skew ------> SystolicArray -> DrainLane... -> ResultBuffer -> y
                                             |----> WeightMemory...-^
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.unscaled import Unscaled

from .array import SystolicArray
from .block_ram import SMALL
from .centring import Centring, array_format, is_centred
from .config import ArrayConfig
from .delay import delay
from .drain_lane import ColumnConstants, DrainLane
from .float8_layer import float8_sum_bits, has_infinities, tail_mask
from .folding import Folding, fold
from .hierarchy import place
from .mac import operand_layout
from .replay_buffer import ReplayBuffer
from .requantizer import RequantizerConfig
from .requantizers import (
    LaneRequantizerConfig,
    LayerRequantization,
    check_kind,
    requantizer_config,
    requantizer_constants,
)
from .result_buffer import ResultBuffer, result_flags, y_beat
from .results_timed import results_timed
from .schedule import Schedule
from .sequencer import Sequencer, a_beat
from .skew import Skew
from .timeline import Steps, Timeline
from .weights import WeightMemory, column_words, weight_memories

__all__ = ["Dense"]

_INT32_BITS = 32  # ONNX: the accumulation may overflow if and only if in 32 bits


class Dense(wiring.Component):
    """``y = requantize(a @ b + bias)`` for constant ``b``: a layer, its integer constants, and an array to run it.

    Rows of A are taken ``rows`` at a time. Beat t of a group carries, for each row r of it, the elements
    ``t * depth .. t * depth + depth - 1`` of that row (elements beyond K are ignored); ``last`` on the last beat of a
    group ends the batch. For each group and column tile, Y leaves row by row, ``lanes`` neighbouring outputs a beat
    (those beyond N are meaningless), with ``last`` on the last beat of a batch.

    ``config`` asks for rows, cols, depth, the width of B, and the most bits that an accumulator may have. The attribute
    ``config`` is the configuration that is built: operand formats follow from the layer, and accumulators are no wider
    than its sums. With float8 operands, accumulators are as wide as the exact sums need. If A, B or Y is float8,
    ``requantization`` is a `Float8Requantization`; for a layer that returns int32 sums, it is ``Unscaled()``. If zero
    points come with A, beats of ``a`` carry one per row, the same in all beats of a group. In this case, and if a
    constant zero point is combined with float8 weights, ``config.a`` is the format of the differences.

    With ``groups``, the columns form ``groups`` groups. Consecutive rows of A belong to consecutive groups, and each
    row is multiplied by the columns of its group only, so ``groups`` rows of A make one row of Y. ``cols`` must divide
    the columns of a group.

    With ``repeated``, each group of beats of A comes ``repeats`` times in a row, once for every column tile; otherwise
    it comes once, and the layer repeats it.

    ``lane_cells`` are the cells of the lanes' multipliers; by default, the array's cells. With ``serial``, requantizers
    multiply a few bits at a time where tiles leave them the time (`Schedule.spare_pace`). The hardware computes
    `MatMulLayer.canonical`, and ``requantization`` holds the constants of that layer.

    Raises ValueError if the accumulator cannot hold every sum that the layer can reach; sums modulo 2^32 (ONNX's int32)
    are allowed if ``wrap`` is set or the sums are the results, and the accumulator has at least 32 bits. Also raises
    ValueError if the weights need more bits than ``config.b`` has, or if ``requantization`` is not of the layer's kind.
    """

    kind = "dense"

    def __init__(
        self,
        layer: MatMulLayer,
        requantization: LayerRequantization,
        config: ArrayConfig,
        *,
        wrap: bool = False,
        lane_cells: str | None = None,
        groups: int = 1,
        repeated: bool = False,
        serial: bool = False,
    ) -> None:
        check_kind(layer, requantization)
        if groups > 1 and layer.n % (groups * config.cols):
            raise ValueError(f"cols must divide the {layer.n} columns in {groups} groups, not {config.cols}")
        self.layer = layer
        self.requantization = requantization
        self.folding: Folding = fold(layer.canonical, config.b.bits)
        float8_bits = float8_sum_bits(layer)
        asked = config.replace(
            a=array_format(layer), b=self.folding.b_format, accumulator_bits=float8_bits or config.accumulator_bits
        )
        self.sum_bits = float8_bits or self._sum_bits(asked.accumulator_bits, wrap or layer.gives_sums)
        # Sums are exact modulo any width that holds the results: the array is built no wider than that.
        self.config = asked.replace(accumulator_bits=max(self.sum_bits, asked.product_bits))
        self.schedule = Schedule(k=layer.k, n=layer.n, config=self.config)
        self._ones = int(self.folding.needs_row_sums)
        self._word = data.ArrayLayout(operand_layout(self.config.a, config.depth), config.rows)
        self._replay_buffer: ReplayBuffer | None = None
        self.repeated, beats = repeated, self.schedule.beats
        self.repeats = self.schedule.column_tiles // groups
        if self.repeats > 1 and not repeated:
            self._replay_buffer = ReplayBuffer(
                a_beat(self._word), beats=beats, times=self.repeats, cells=config.cells, registered=2 * beats > SMALL
            )
        words = self.schedule.column_tiles * beats
        self._idle = words if has_infinities(self.config.b, self.folding.weights) else None  # where a word of zeros is
        self._weights_latency = WeightMemory.latency_of(words + (self._idle is not None), config.cells)
        self.array = SystolicArray(self.config.replace(cols=config.cols + self._ones), interval=self.schedule.interval)
        lanes = self.config if lane_cells is None else self.config.replace(cells=lane_cells)
        pace = self.schedule.spare_pace if serial and not self._ones else 1
        lane_config = requantizer_config(requantization, lanes, self.sum_bits, pace=pace)
        if isinstance(lane_config, RequantizerConfig):
            self.schedule = dataclasses.replace(self.schedule, pace=lane_config.pace)
        self.lanes = [self._lane(lane_config, index, lanes.cells) for index in range(self.schedule.lanes)]
        y_shape = self.lanes[0].y.shape()
        self.result_buffer = ResultBuffer(
            y_shape,
            result_flags(),
            lanes=self.schedule.lanes,
            tile_beats=self.schedule.drain_steps,
            tiles=1 + -(-self._flight_cycles // self.schedule.tile_cycles),
            cells=config.cells,
        )
        self.centring = self._centring()
        a = a_beat(self._word) if self.centring is None else self.centring.i.payload.shape()
        super().__init__(
            {
                "a": In(stream.Signature(a)),
                "y": Out(stream.Signature(y_beat(y_shape, self.schedule.lanes))),
            }
        )

    def _centring(self) -> Centring | None:
        """The block that subtracts zero points from A, if they come with A or the weights are float8; else None."""
        a = self.layer.a_format
        if not is_centred(self.layer) or not isinstance(a, IntFormat):
            return None
        return Centring(a, rows=self.config.rows, depth=self.config.depth, zero_point=self.layer.a_zero_point)

    def _sum_bits(self, have: int, wrap: bool) -> int:
        """Bits, of ``have``, that hold every reachable sum, bias included; 32 where sums may wrap, as ONNX's do."""
        lows, highs = self.layer.canonical.accumulator_range()
        low, high = int(lows.min()), int(highs.max())
        needed = signed_bits(low, high)
        if needed <= min(have, _INT32_BITS):
            return needed
        if wrap and have >= _INT32_BITS:
            return _INT32_BITS
        reason = f"every sum of K = {self.layer.k} products and the bias ({low} to {high})"
        if needed <= _INT32_BITS:
            raise ValueError(f"accumulator_bits must be at least {needed} to hold {reason}, not {have}")
        raise ValueError(
            f"{reason} needs {needed} bits, more than int32 has: ask for wrapping, with accumulator_bits at least "
            f"{_INT32_BITS} (given: {have}), to get what ONNX defines"
        )

    def _lane(self, lane_config: LaneRequantizerConfig, index: int, cells: str) -> DrainLane:
        schedule, requantization = self.schedule, self.requantization

        def constants(column: int) -> ColumnConstants:
            column = min(column, schedule.n - 1)  # what a ragged tile lacks is not pushed, and takes no memory
            return ColumnConstants(
                bias=int(self.folding.bias[column]),
                residual=int(self.folding.residual[column]),
                **requantizer_constants(requantization, self.config, column),
            )

        physical = range(index * schedule.interval, (index + 1) * schedule.interval)
        per_tile = [
            [constants(tile * schedule.config.cols + schedule.logical_column(p)) for p in physical]
            for tile in range(schedule.column_tiles)
        ]
        return DrainLane(
            schedule,
            lane_config,
            per_tile,
            zero_point=0 if isinstance(requantization, Unscaled) else requantization.zero_point,
            index=index,
            row_sums=self.folding.row_sums if self._ones else None,
            cells=cells,
        )

    @property
    def zero_point_bits(self) -> int:
        """Bits of the zero points that come with a beat of A; 0 where the layer has its own."""
        return self.config.rows * self.layer.a_format.bits if self.layer.takes_zero_points else 0

    # Cycles.

    @property
    def _drain_start(self) -> int:
        """Cycles from a tile's last beat at the sequencer to the first sum at lane 0 (1: the weights' address)."""
        return 1 + self._weights_latency + self.array.latency + self._ones

    @property
    def _flight_cycles(self) -> int:
        """Cycles from the last beat of a tile to the one after the departure of its last result."""
        return self.latency + self.schedule.drain_cycles

    @property
    def latency(self) -> int:
        """Cycles from the last A beat of a group (of its last replay) to the first Y beat of its last column tile."""
        across = (self.schedule.lanes - 1) * self.schedule.interval
        return self._drain_start + across + self.lanes[0].latency + ResultBuffer.latency_of(self.config.cells)

    @property
    def _fill(self) -> int:
        """Cycles from the arrival of a beat to its first replay: a group is repeated once it is complete."""
        return self.schedule.beats + self._replay_buffer.latency - 1 if self._replay_buffer else 0

    @property
    def latency_from_outside(self) -> int:
        """Cycles from the arrival of the last A beat of a group to the first Y beat of its first column tile, in an
        idle pipeline.
        """
        return self._fill + self.latency

    @property
    def replay_cycles(self) -> int:
        """Cycles from the arrival of the last A beat of a group to the cycle in which its place in the replay buffer is
        free again, in an idle pipeline; 0 if groups are not repeated.
        """
        if self._replay_buffer is None:
            return 0
        return (self._replay_buffer.times - 1) * self.schedule.tile_cycles + self.schedule.beats

    def held_beats(self, tiles: int) -> int:
        """Beats of A that are taken, from reset on, where the results of the first ``tiles`` tiles are taken and no
        more; then ready falls.
        """
        schedule, replay = self.schedule, self._replay_buffer
        # a tile's last beat waits for room for its results
        held = (self.result_buffer.tiles + tiles + 1) * schedule.beats - 1
        if replay is None:
            return held
        # more are on their way out of the memory; a group is let go of with the last beat of its last repetition
        held += replay.ram.latency
        return (held // (schedule.beats * replay.times) + 2) * schedule.beats

    def cycles(self, m: int) -> int:
        """Cycle model: from the first A beat to the last Y beat of ``m`` rows, both included, without stalls."""
        schedule = self.schedule
        tiles = schedule.groups(m) * schedule.column_tiles
        tail = (schedule.config.rows - 1) * schedule.interval + schedule.row_beats(schedule.column_tiles - 1) - 1
        return self._fill + schedule.beats + (tiles - 1) * schedule.tile_cycles + self.latency + tail * schedule.pace

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats of Y, from the beats of A, without stalls from outside."""
        if self._replay_buffer:
            taken = self._replay_buffer.timed(line, taken)
        flight = self.latency - ResultBuffer.latency_of(self.config.cells)
        return results_timed(line, self.schedule, taken, self.result_buffer, flight=flight)

    # Hardware.

    def _weight_words(self, physical: int) -> npt.NDArray[np.int64]:
        """Words of the array's column ``physical``, tile after tile, ``depth`` operands each, zeros beyond K and N."""
        schedule, depth = self.schedule, self.config.depth
        padded = np.zeros((schedule.beats * depth, schedule.column_tiles * schedule.config.cols), np.int64)
        padded[: schedule.k, : schedule.n] = self.folding.weights
        columns = padded[:, schedule.logical_column(physical) :: schedule.config.cols]
        words: npt.NDArray[np.int64] = columns.T.reshape(-1, depth)
        return words

    def _ones_words(self) -> npt.NDArray[np.int64]:
        """Words of the column whose sums are the row sums of A."""
        schedule, depth = self.schedule, self.config.depth
        ones = (np.arange(schedule.beats * depth) < schedule.k).astype(np.int64).reshape(-1, depth)
        return np.tile(ones, (schedule.column_tiles, 1))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sequencer = self._sequence(m, platform)
        taken = self._pass_rows(m, platform, sequencer)
        self._pass_columns(m, platform, sequencer, taken)
        self._drain(m, platform, sequencer)
        return m

    def _sequence(self, m: Module, platform: object) -> Sequencer:
        """The sequencer, fed with the beats of A, each group as often as there are column tiles."""
        schedule = self.schedule
        beats = wiring.flipped(self.a)
        if self.centring is not None:
            m.submodules.centring = place(self.centring, platform)
            wiring.connect(m, beats, self.centring.i)
            beats = self.centring.o
        sequencer = Sequencer(schedule, self._word)
        m.submodules.sequencer = place(sequencer, platform)
        if replay := self._replay_buffer:
            m.submodules.replay_buffer = place(replay, platform)
            wiring.connect(m, beats, replay.i)
            beats = replay.o
        wiring.connect(m, beats, sequencer.i)
        return sequencer

    def _pass_rows(self, m: Module, platform: object, sequencer: Sequencer) -> Signal:
        """The array, and the words of A that enter it row by row; whether one was taken, a cycle later."""
        # The operands are cleared where no beat was taken a cycle after they come: whether one is taken is known late.
        taken = Signal()
        offered = Signal(self._word, reset_less=True)
        word = Signal(self._word, reset_less=True)
        first = Signal()
        last = Signal()
        ends = delay(m, sequencer.last, 1, name="last", reset_less=False)
        operands = Value.cast(offered)
        if (mask := tail_mask(self.schedule)) is not None:
            operands &= ~Mux(ends, ~Const(mask, len(operands)), 0)
        m.d.sync += [
            taken.eq(sequencer.i.valid & sequencer.i.ready),
            offered.eq(sequencer.i.payload.data),
            word.eq(Mux(taken, operands, 0)),
            first.eq(delay(m, sequencer.first, 1, name="first", reset_less=False)),
            last.eq(ends),
        ]

        word, first, last = (
            delay(m, value, self._weights_latency - 1, name=name, reset_less=value is word)
            for value, name in ((word, "word"), (first, "first_word"), (last, "last_word"))
        )
        m.submodules.array = place(self.array, platform)
        m.d.comb += [self.array.first.eq(first), self.array.last.eq(last)]
        if self.config.rows > 1:
            skew = Skew(self._word, kind="skew_a")
            m.submodules.skew_a = place(skew, platform)
            m.d.comb += [skew.word.eq(word), self.array.a.eq(skew.out)]
        else:
            m.d.comb += self.array.a.eq(word)
        return taken

    def _pass_columns(self, m: Module, platform: object, sequencer: Sequencer, taken: Signal) -> None:
        """Add the memories of weights; the address is passed from memory to memory, with the columns of the array."""
        contents = [self._ones_words()] * self._ones
        contents += [self._weight_words(p) for p in range(self.schedule.config.cols)]
        address = delay(m, sequencer.address, 1, name="address")
        if self._idle is not None:  # for cycles without a beat
            address = Mux(taken, address, self._idle)
            contents = [np.pad(words, ((0, 1), (0, 0))) for words in contents]
        layout = operand_layout(self.config.b, self.config.depth)
        memories = weight_memories(layout, contents, cells=self.config.cells)
        if memories:
            address = delay(m, address, memories[0].pieces[0].column, name="first_address")
        for memory in memories:
            m.submodules[memory.kind] = place(memory, platform)
            m.d.comb += memory.address.eq(address)
            address = memory.address_next
        for index, word in enumerate(column_words(layout, contents, memories)):
            m.d.comb += Value.cast(self.array.b[index]).eq(word)

    def _drain(self, m: Module, platform: object, sequencer: Sequencer) -> None:
        """The lanes, each begun as its sums leave the array, and their results through the buffer to Y."""
        schedule, buffer = self.schedule, self.result_buffer
        m.submodules.result_buffer = place(buffer, platform)
        m.d.comb += [
            buffer.reserve.eq(sequencer.last),
            sequencer.credit.eq(buffer.credit),
            sequencer.credit_soon.eq(buffer.credit_soon),
        ]
        token = delay(m, Cat(sequencer.last, sequencer.batch_last), self._drain_start, name="token", reset_less=False)
        if self._ones:
            row_sum = Signal(signed(schedule.config.word_bits), reset_less=True)
            m.d.sync += row_sum.eq(self.array.sums[0])
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [lane.start.eq(token[0]), lane.batch_last.eq(token[1])]
            first_column = self._ones + index * schedule.interval
            for step in range(schedule.interval):
                m.d.comb += lane.sums[step].eq(self.array.sums[first_column + step])
            m.d.comb += [buffer.push[index].eq(lane.push), buffer.y[index].eq(lane.y)]
            if self._ones:
                m.d.comb += lane.row_sum.eq(row_sum)
                row_sum = lane.row_sum_next
            if index == schedule.lanes - 1:
                m.d.comb += buffer.flags.eq(lane.flags)
            else:
                token = delay(m, token, schedule.interval, name=f"token_lane_{index + 1}", reset_less=False)
        m.d.comb += [
            self.y.payload.data.eq(buffer.o.payload.data),
            self.y.payload.last.eq(buffer.o.payload.flags.last),
            self.y.valid.eq(buffer.o.valid),
            buffer.o.ready.eq(self.y.ready),
        ]
