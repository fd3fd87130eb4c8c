"""Depthwise product: each output channel a product of the pixels of one input channel with weights of its own."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.golden.words import bytes_of, to_words

from ..array import SystolicArray
from ..config import ArrayConfig
from ..delay import delay
from ..drain_lane import ColumnConstants, DrainLane
from ..folding import Folding, fold
from ..hierarchy import place
from ..mac import operand_layout
from ..operand_shape import operand_shape
from ..requantizer import RequantizerConfig
from ..requantizers import LaneRequantizerConfig, requantizer_config, requantizer_constants
from ..result_buffer import ResultBuffer, result_flags, y_beat
from ..results_timed import results_timed
from ..schedule import Schedule
from ..sequencer import Sequencer
from ..timeline import Steps, Timeline
from ..weights import Piece, WeightMemory

__all__ = ["Depthwise"]


class Depthwise(wiring.Component):
    """``y[c] = requantize(sum over k of (a[c, k] - a_zp) * (b[k, c] - b_zp[c]) + bias[c])``: column c of ``layer`` for
    channel c alone.

    ``lanes`` channels at a time, a divisor of all: ``i`` gives for the first of them k = 0, 1, ..., then for the next,
    as `WindowBuffer` does where each beat is a group. Sums stay until the next group's are whole, so one requantizer
    serves as many channels as a group has beats (`Schedule.interval`), or fewer serially (`Schedule.pace`). ``o`` gives
    results in beats of one channel for each requantizer; ``last`` marks the beat that ends a batch.

    A fixed-latency pipeline like `systoliq.hw.Dense`, of the same elements; flow control lives at its edges. Weights
    whose zero points do not fit into their bits have one bit more. ``lane_cells`` are the cells of the requantizers; by
    default ``cells``. Raises ValueError where ``lanes`` is no divisor, or a sum needs more than 32 bits.
    """

    namespace = True

    def __init__(
        self,
        layer: MatMulLayer,
        requantization: Requantization,
        *,
        lanes: int,
        cells: str,
        kind: str,
        lane_cells: str | None = None,
    ) -> None:
        if layer.n % lanes:
            raise ValueError(f"lanes must divide the {layer.n} channels, not {lanes!r}")
        if not isinstance(layer.a_format, IntFormat) or not isinstance(layer.b_format, IntFormat):
            raise ValueError(f"a and b must be integers, not {layer.a_format} and {layer.b_format}")
        self.layer = layer
        self.requantization = requantization
        self.lanes = lanes
        self.kind = kind
        self.folding: Folding = fold(layer)
        if self.folding.needs_row_sums:
            self.folding = fold(layer, layer.b_format.bits + 1)
        lows, highs = layer.canonical.accumulator_range()
        self.sum_bits = sum_bits = signed_bits(int(lows.min()), int(highs.max()))
        if sum_bits > 32:
            raise ValueError(f"sums must fit 32 bits, not {sum_bits}: {int(lows.min())} to {int(highs.max())}")
        config = ArrayConfig(a=layer.a_format, b=self.folding.b_format, accumulator_bits=48, cells=cells)
        self.config = config.replace(accumulator_bits=max(sum_bits, config.product_bits))
        self.schedule = Schedule(k=layer.k, n=layer.n, config=self.config.replace(cols=lanes))  # a tile is a group
        self._word = data.ArrayLayout(operand_layout(self.config.a, 1), lanes)
        self._weight_layout = operand_layout(self.folding.b_format, lanes)
        width = self._weight_layout.size
        words = to_words(np.array(self._weight_words()), width // lanes, bytes_of(width))
        whole = Piece(column=0, low=0, width=width)
        self._weights = WeightMemory(words, [whole], onward=1, cells=cells, kind="weights")
        self.array = SystolicArray(self.config)
        lanes_config = self.config.replace(cells=lane_cells or cells)
        requantizer = requantizer_config(requantization, lanes_config, sum_bits, pace=self.schedule.spare_pace)
        if isinstance(requantizer, RequantizerConfig):
            self.schedule = dataclasses.replace(self.schedule, pace=requantizer.pace)
        self._drain = [self._lane(requantizer, lane) for lane in range(self.schedule.lanes)]
        y_shape = self._drain[0].y.shape()
        self.result_buffer = ResultBuffer(
            y_shape,
            result_flags(),
            lanes=self.schedule.lanes,
            tile_beats=self.schedule.drain_steps,
            tiles=2 + -(-(self.latency + self.schedule.drain_cycles - 1) // self.schedule.tile_cycles),
            cells=cells,
        )
        element = operand_shape(layer.a_format)
        super().__init__(
            {
                "i": In(stream.Signature(y_beat(element, lanes))),
                "o": Out(stream.Signature(y_beat(y_shape, self.schedule.lanes))),
            }
        )

    @property
    def _channels(self) -> npt.NDArray[np.int64]:
        """The channel of each group that an element computes: neighbours reach the lanes in the same cycle."""
        return np.array([self.schedule.logical_column(element) for element in range(self.lanes)])

    def _weight_words(self) -> list[list[int]]:
        """Words of the weights' memory: group after group of channels, k after k, a part for each element."""
        weights = np.asarray(self.folding.weights).reshape(self.layer.k, self.schedule.column_tiles, self.lanes)
        words: list[list[int]] = weights[:, :, self._channels].transpose(1, 0, 2).reshape(-1, self.lanes).tolist()
        return words

    def _lane(self, requantizer: LaneRequantizerConfig, lane: int) -> DrainLane:
        interval = self.schedule.interval
        served = self._channels[lane * interval : (lane + 1) * interval].tolist()

        def constants(channel: int) -> ColumnConstants:
            return ColumnConstants(
                bias=int(self.folding.bias[channel]),
                **requantizer_constants(self.requantization, self.config, channel),
            )

        return DrainLane(
            self.schedule,
            requantizer,
            [[constants(tile * self.lanes + each) for each in served] for tile in range(self.schedule.column_tiles)],
            zero_point=self.requantization.zero_point,
            index=lane,
        )

    @property
    def _drain_start(self) -> int:
        """Cycles from a group's last beat at the sequencer to its sums (1: the weights' address)."""
        return 1 + self._weights.latency + self.array.latency

    @property
    def latency(self) -> int:
        """Cycles from the last beat of a group of channels to its first results."""
        return self._drain_start + self._drain[0].latency + ResultBuffer.latency_of(self.config.cells)

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        flight = self.latency - ResultBuffer.latency_of(self.config.cells)
        return results_timed(line, self.schedule, taken, self.result_buffer, flight=flight)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.sequencer = sequencer = Sequencer(self.schedule, self._word)
        m.d.comb += [
            sequencer.i.valid.eq(self.i.valid),
            Value.cast(sequencer.i.payload.data).eq(Value.cast(self.i.payload.data)),
            sequencer.i.payload.last.eq(self.i.payload.last),
            self.i.ready.eq(sequencer.i.ready),
        ]
        self._multiply(m, platform, sequencer)
        buffer = self.result_buffer
        m.submodules.result_buffer = place(buffer, platform)
        m.d.comb += [
            buffer.reserve.eq(sequencer.last),
            sequencer.credit.eq(buffer.credit),
            sequencer.credit_soon.eq(buffer.credit_soon),
        ]
        interval = self.schedule.interval
        token = delay(m, Cat(sequencer.last, sequencer.batch_last), self._drain_start, name="token", reset_less=False)
        for index, lane in enumerate(self._drain):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.start.eq(token[0]),
                lane.batch_last.eq(token[1]),
                *(lane.sums[i].eq(self._sums[index * interval + i]) for i in range(interval)),
                buffer.push[index].eq(lane.push),
                buffer.y[index].eq(lane.y),
            ]
        m.d.comb += [
            buffer.flags.eq(self._drain[-1].flags),
            self.o.valid.eq(buffer.o.valid),
            self.o.payload.data.eq(buffer.o.payload.data),
            self.o.payload.last.eq(buffer.o.payload.flags.last),
            buffer.o.ready.eq(self.o.ready),
        ]
        return m

    def _multiply(self, m: Module, platform: object, sequencer: Sequencer) -> None:
        """An element for each lane, its operands, and its sum."""
        # Whether a beat is taken is known late: the operands are cleared a cycle after they come.
        taken = Signal()
        ends = Signal()
        begins = Signal()
        offered = Signal(self._word, reset_less=True)
        word = Signal(self._word, reset_less=True)
        m.d.sync += [
            taken.eq(sequencer.i.valid & sequencer.i.ready),
            offered.eq(sequencer.i.payload.data),
            word.eq(Mux(taken, Value.cast(offered), 0)),
            begins.eq(sequencer.first),
            ends.eq(sequencer.last),
        ]
        weights = self._weights
        m.submodules.weights = place(weights, platform)
        m.d.comb += weights.address.eq(delay(m, sequencer.address, 1, name="address"))
        waits = weights.latency - 1
        operands = delay(m, Value.cast(word), waits, name="word")
        first = delay(m, begins, 1 + waits, name="first", reset_less=False)
        last = delay(m, ends, 1 + waits, name="last", reset_less=False)
        self._sums = []
        bits = self.config.a.bits
        for index, channel in enumerate(self._channels.tolist()):
            array = SystolicArray(self.config)
            m.submodules[f"array_{index}"] = place(array, platform)
            m.d.comb += [
                array.first.eq(first),
                array.last.eq(last),
                Value.cast(array.a).eq(operands[channel * bits : (channel + 1) * bits]),
                Value.cast(array.b[0]).eq(self._weight_layout(weights.word)[index]),
            ]
            self._sums.append(array.sums[0])
