"""Concatenation: beats of several streams in turn, with a table for each byte where needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..counter import Count, count
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..rom import Rom
from ..timeline import Steps, Timeline
from .credit_pipeline import credit_pipeline, credit_pipeline_timed
from .lookup import by_bits

__all__ = ["Concatenation", "Part"]


class Part(NamedTuple):
    """One input: its format, its number of ``beats`` per turn, and its table of 256 entries; None leaves codes
    unchanged. A constant's ``last`` ends no image.
    """

    form: IntFormat
    beats: int
    entries: Sequence[int] | None
    is_constant: bool = False


class Concatenation(wiring.Component):
    """``i_0``, ``i_1``, ... in turn (``i`` where it is one), each of ``parts`` for its beats of ``lanes`` elements.

    Entries are codes of ``output``, in the order of the part's codes from the least. All tables lie in one memory for
    each lane; there is none where no part needs a table. A beat a cycle. The last part that is not constant gives
    ``last``, which comes with the last beat of the turn.
    """

    def __init__(self, parts: Sequence[Part], output: IntFormat, *, lanes: int, cells: str, kind: str) -> None:
        self.parts = list(parts)
        self.lanes = lanes
        self.kind = kind
        self.roms: list[Rom] = []
        if any(part.entries is not None for part in parts):
            words = [entry & 0xFF for part in parts for entry in _page(part)]
            self.roms = [Rom(words, 8, cells=cells, kind=f"{kind}_tables") for _ in range(lanes)]
        made = y_beat(operand_shape(output), lanes)
        self.fifo = Fifo(made, depth=16, cells=cells)
        self._names = ["i"] if len(parts) == 1 else [f"i_{index}" for index in range(len(parts))]
        given = (stream.Signature(y_beat(operand_shape(part.form), lanes)) for part in parts)
        inputs = {name: In(signature) for name, signature in zip(self._names, given, strict=True)}
        super().__init__({**inputs, "o": Out(stream.Signature(made))})

    def timed(self, line: Timeline, *taken: Steps | None) -> Steps:
        """Return the beats that leave; an input that is None is always there."""
        pairs = list(zip(self.parts, taken, strict=True))
        turns = next(len(source) // part.beats for part, source in pairs if source is not None)
        turn = sum(part.beats for part in self.parts)
        entered = line.steps(turns * turn)
        place, begin = np.arange(len(entered)) % turn, 0
        for part, source in pairs:
            if source is not None:
                where = np.flatnonzero((place >= begin) & (place < begin + part.beats))
                index = np.full(len(entered), -1)
                index[where] = np.arange(len(source))
                entered.after_some(source, 0, index)
                source.after_some(entered, 0, where)
            begin += part.beats
        latency = self.roms[0].latency if self.roms else 0
        return credit_pipeline_timed(line, entered, self.fifo, latency=latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        offered = stream.Signature(self.o.payload.shape()).create(path=("offered",))
        word, last = Value.cast(offered.payload.data), offered.payload.last
        turn = Signal(range(len(self.parts)))
        final = len(self.parts) - 1
        ending = max((at for at, part in enumerate(self.parts) if not part.is_constant), default=final)
        with m.Switch(turn):
            for index, name in enumerate(self._names):
                source = getattr(self, name)
                with m.Case(index):
                    m.d.comb += [
                        offered.valid.eq(source.valid),
                        word.eq(Value.cast(source.payload.data)),
                        last.eq(source.payload.last if index == ending == final else 0),
                        source.ready.eq(offered.ready),
                    ]
        latency = self.roms[0].latency if self.roms else 0
        result = Signal.like(Value.cast(self.fifo.i.payload))
        enters = credit_pipeline(m, platform, [offered], self.fifo, result, latency=latency)
        at = self._take_turns(m, turn, enters)
        if ending < final:
            ends = Signal()
            with m.If(enters & (turn == ending)):
                m.d.sync += ends.eq(getattr(self, self._names[ending]).payload.last)
            m.d.comb += last.eq(ends & at.last)
        m.d.comb += result[-1].eq(delay(m, last, latency, name="last"))
        for lane in range(self.lanes):
            byte = slice(8 * lane, 8 * lane + 8)
            if self.roms:
                rom = self.roms[lane]
                m.submodules[f"tables_{lane}"] = place(rom, platform)
                m.d.comb += [rom.address.eq(Cat(word[byte], turn)), result[byte].eq(rom.word)]
            else:
                m.d.comb += result[byte].eq(word[byte])
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m

    def _take_turns(self, m: Module, turn: Signal, enters: Value) -> Count:
        """The next part's turn after the last beat of each; return the counter of the beats of all."""
        total = sum(part.beats for part in self.parts)
        at = count(m, total, when=enters, name="at")
        end = 0
        with m.If(enters), m.Switch(at.value):
            for index, part in enumerate(self.parts):
                end += part.beats
                with m.Case(end - 1):
                    m.d.sync += turn.eq((index + 1) % len(self.parts))
        return at


def _page(part: Part) -> list[int]:
    """The words of a part's table, by the bits of its bytes."""
    return list(range(256)) if part.entries is None else by_bits(part.entries, part.form)
