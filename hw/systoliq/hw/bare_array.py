"""The bare array: operands in by stream, sums out, no layer. For synthesis and speed studies, and as a building block.

a, b -> join and pace -> Skew -> SystolicArray -> sums
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .array import SystolicArray
from .config import ArrayConfig
from .delay import delay
from .hierarchy import place
from .mac import operand_layout
from .sequencer import a_beat
from .skew import Skew

__all__ = ["BareArray"]


class BareArray(wiring.Component):
    """``sums = a @ b`` for tiles of ``rows`` x K and K x ``cols``, one tile after the other.

    A beat is taken when both streams have one: ``depth`` elements of each of ``rows`` rows of A, ``depth`` of each of
    ``cols`` columns of B. ``last`` in the stream of A ends a tile, whose K is free; the last beats of two tiles are
    kept at least ``rows`` cycles apart.

    ``sums[c]`` is the sum of column c in the cycles in which ``valid[c]`` is 1: row 0 comes ``latency + c`` cycles
    after the tile's last beat, the other rows in the cycles after it. There is no way to hold the sums back.
    """

    kind = "bare_array"

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        self.array = SystolicArray(config)
        self._a = data.ArrayLayout(operand_layout(config.a, config.depth), config.rows)
        self._b = data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)
        super().__init__(
            {
                "a": In(stream.Signature(a_beat(self._a))),
                "b": In(stream.Signature(self._b)),
                "sums": Out(data.ArrayLayout(signed(config.word_bits), config.cols)),
                "valid": Out(config.cols),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles from a tile's last beat to the sum of row 0, column 0: operand registers, array."""
        return 2 + self.array.latency

    def cycles(self, beats: list[int]) -> int:
        """Cycle model: from the first beat of tiles of ``beats`` beats to the last sum, both included, unstalled."""
        last = beats[0]
        for count in beats[1:]:
            last += max(count, self.config.rows)
        return last + self.latency + self.config.rows - 1 + self.config.cols - 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        both = Signal()
        take = Signal()
        begins = Signal(init=1)
        may_end = Signal()
        m.d.comb += [
            both.eq(self.a.valid & self.b.valid),
            take.eq(both & (~self.a.payload.last | may_end)),
            self.a.ready.eq(take),
            self.b.ready.eq(take),
        ]
        if config.rows > 1:
            pace = Signal(range(config.rows))
            m.d.comb += may_end.eq(pace == 0)
            with m.If(take & self.a.payload.last):
                m.d.sync += pace.eq(config.rows - 1)
            with m.Elif(pace != 0):
                m.d.sync += pace.eq(pace - 1)
        else:
            m.d.comb += may_end.eq(1)

        with m.If(take):
            m.d.sync += begins.eq(self.a.payload.last)
        first = delay(m, take & begins, 2, name="first", reset_less=False)
        last = delay(m, take & self.a.payload.last, 2, name="last", reset_less=False)
        m.submodules.array = place(self.array, platform)
        was_taken = [delay(m, take, 1, name="taken", reset_less=False)]
        for lane in range(1, max(config.rows, config.cols if config.flag_bits else 1)):
            was_taken.append(delay(m, was_taken[-1], 1, name=f"taken_{lane}", reset_less=False))
        for name, layout, offered in (("a", self._a, self.a.payload.data), ("b", self._b, self.b.payload)):
            came = Signal(layout, name=f"{name}_came", reset_less=True)
            skew = Skew(layout, kind=f"skew_{name}")
            m.submodules[f"skew_{name}"] = place(skew, platform)
            word = Signal(layout, name=name, reset_less=True)
            m.d.sync += [came.eq(offered), word.eq(skew.out)]
            m.d.comb += [skew.word.eq(came), getattr(self.array, name).eq(word)]
            if name == "a" or config.flag_bits:  # of b: zero times NaN or infinity would be NaN
                for lane, taken in zip(range(layout.length), was_taken, strict=False):
                    with m.If(~taken):
                        m.d.sync += word[lane].eq(0)
        m.d.comb += [self.array.first.eq(first), self.array.last.eq(last), self.sums.eq(self.array.sums)]

        start = delay(m, last, self.array.latency, name="start", reset_less=False)
        row = Signal(range(config.rows))
        valid = Signal()
        m.d.comb += valid.eq(start | (row != 0))
        with m.If(valid):
            m.d.sync += row.eq(row + 1)
            with m.If(row == config.rows - 1):
                m.d.sync += row.eq(0)
        for col in range(config.cols):
            m.d.comb += self.valid[col].eq(valid)
            valid = delay(m, valid, 1, name=f"valid_{col}", reset_less=False) if col < config.cols - 1 else valid
        return m
