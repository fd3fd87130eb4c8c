"""Residual sum: the sums of a convolution, and the elements of another stream, added before they are requantized."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network import ResidualSum
from systoliq.golden.requantization import Requantization

from ..cells import LUT_CELLS, PLAIN_CELLS, is_ecp5
from ..counter import count
from ..delay import delay
from ..dense import Dense
from ..fifo import Fifo
from ..hierarchy import place
from ..multiplier import WideMultiplier
from ..operand_shape import operand_shape
from ..requantizer import Requantizer, RequantizerConfig
from ..result_buffer import y_beat
from ..table import ConstantTable
from ..timeline import Steps, Timeline
from .convolution import Convolution
from .credit_pipeline import credit_depth, credit_pipeline, joined_timed
from .image import ImageWindow

__all__ = ["Residual", "ResidualLane"]


class ResidualLane(wiring.Component):
    """``y = requantize((sum << fraction_bits) + factor * (addend - zero_point) + constant)`` of ``latency`` cycles ago.

    ``index`` selects one of the ``columns`` of ``node``, whose constants are used; ``requantization`` has constants of
    these columns, too. ``addend`` is the bits of a code. ``cells`` make the requantizer's product; plain logic makes
    the product of ``factor``. No reset.
    """

    namespace = True

    def __init__(
        self, node: ResidualSum, columns: range, requantization: Requantization, *, cells: str, kind: str
    ) -> None:
        self.node = node
        self.kind = kind
        self._zero_point = requantization.zero_point
        operand = node.inputs[1].format
        lows, highs = node.layer.accumulator_range()
        factors, constants = ([int(each[column]) for column in columns] for each in (node.factors, node.constants))
        factor_bits = max(max(factors).bit_length(), 1)
        shape = signed(factor_bits + 1)
        self._factors = ConstantTable({"factor": factors}, {"factor": shape}, cells=cells, kind=f"{kind}_factors")
        logic = LUT_CELLS if is_ecp5(cells) else PLAIN_CELLS
        self._product = WideMultiplier(operand.bits + 1, factor_bits, cells=logic, kind=f"{kind}_product")
        self._requantizer = Requantizer(RequantizerConfig.of(requantization, signed_bits(*node.totals), cells=cells))
        given = {"constant": constants, **{name: getattr(requantization, name) for name in Requantizer.constants}}
        shapes = {"constant": signed(signed_bits(*constants))}
        shapes |= {name: getattr(self._requantizer, name).shape() for name in Requantizer.constants}
        self._constants = ConstantTable(given, shapes, cells=cells, kind=f"{kind}_constants")
        super().__init__(
            {
                "index": In(self._factors.index.shape()),
                "sum": In(signed(signed_bits(int(lows.min()), int(highs.max())))),
                "addend": In(operand.bits),
                "y": Out(self._requantizer.y.shape()),
            }
        )

    @property
    def _entry(self) -> int:
        """Cycles from the inputs to the factors of the product."""
        return max(self._factors.latency, 1)

    @property
    def latency(self) -> int:
        """Factor, product, total, requantizer."""
        return self._entry + self._product.latency + 1 + self._requantizer.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        factors, product, constants, requantizer = self._factors, self._product, self._constants, self._requantizer
        m.submodules.factors = place(factors, platform)
        m.submodules.product = place(product, platform)
        m.submodules.constants = place(constants, platform)
        m.submodules.requantizer = place(requantizer, platform)
        entry, made = self._entry, self._entry + product.latency
        tensor = self.node.inputs[1]
        centred = Signal(signed(tensor.format.bits + 1), reset_less=True)
        code = self.addend.as_signed() if tensor.format.signed else self.addend
        m.d.sync += centred.eq(code - tensor.zero_point)
        m.d.comb += [
            factors.index.eq(self.index),
            product.a.eq(delay(m, centred, entry - 1, name="centred_delayed").as_signed()),
            product.b.eq(delay(m, factors.factor, entry - factors.latency, name="factor")),
            constants.index.eq(delay(m, self.index, made - constants.latency, name="constants_index")),
        ]
        waiting = delay(m, self.sum, made, name="sum_delayed").as_signed()
        total = Signal.like(requantizer.acc, name="total", reset_less=True)
        m.d.sync += total.eq((waiting << self.node.fraction_bits) + product.product + constants.constant)
        for name in Requantizer.constants:
            value = delay(m, getattr(constants, name), 1, name=f"{name}_delayed")
            m.d.comb += getattr(requantizer, name).eq(value)
        m.d.comb += [
            requantizer.acc.eq(total),
            requantizer.zero_point.eq(self._zero_point),
            self.y.eq(requantizer.y),
        ]
        return m


class Residual(Convolution):
    """``dense``, of a layer of int32 sums, for each window of ``windows``, and ``lanes`` for each of its beats.

    ``i_0`` carries images as ``i`` of `Convolution` does. ``i_1`` carries what is added, codes of ``addend``, in the
    beats of ``o``, whose elements are codes of ``output``. Lane j of beat b has column ``b * lanes + j`` of a pixel.

    The lanes are a pipeline without a stall, with a FIFO for results.
    """

    def __init__(
        self,
        windows: ImageWindow,
        dense: Dense,
        lanes: Sequence[ResidualLane],
        addend: IntFormat,
        output: IntFormat,
        *,
        padding: int,
        kind: str,
    ) -> None:
        self.lanes = list(lanes)
        self.latency = lanes[0].latency
        self.beats = dense.layer.n // len(lanes)
        self._addend = y_beat(operand_shape(addend), len(lanes))
        made = y_beat(operand_shape(output), len(lanes))
        self.fifo = Fifo(made, depth=credit_depth(self.latency), cells=dense.config.cells)
        super().__init__(windows, dense, padding=padding, kind=kind)

    def _ports(self, given: data.StructLayout, made: data.StructLayout) -> dict[str, wiring.Member]:
        return {
            "i_0": In(stream.Signature(given)),
            "i_1": In(stream.Signature(self._addend)),
            "o": Out(stream.Signature(self.fifo.i.payload.shape())),
        }

    def timed(self, line: Timeline, taken: Steps, *more: Steps) -> Steps:
        """Return the beats that leave."""
        return joined_timed(line, [super().timed(line, taken), *more], self.fifo, latency=self.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._multiply(m, platform, wiring.flipped(self.i_0))
        sums, addend = self.dense.y, wiring.flipped(self.i_1)
        result = Signal.like(Value.cast(self.fifo.i.payload))
        enters = credit_pipeline(m, platform, [sums, addend], self.fifo, result, latency=self.latency)
        beat = count(m, self.beats, when=enters, name="beat")
        m.d.comb += result[-1].eq(delay(m, sums.payload.last, self.latency, name="last"))
        bits = (len(result) - 1) // len(self.lanes)
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.index.eq(beat.value),
                lane.sum.eq(Value.cast(sums.payload.data[index])),
                lane.addend.eq(Value.cast(addend.payload.data[index])),
                result[bits * index : bits * (index + 1)].eq(lane.y),
            ]
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m
