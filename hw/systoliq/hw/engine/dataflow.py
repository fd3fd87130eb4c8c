"""The interface of a dataflow to the engine's core: the way from operand words to sums.

A dataflow reads words of A and B from the operand buffers and shows the sums that they make. It says how the core is to
count and hold the words, and how the sums come out. There are two: `OutputStationary` and `WeightStationary`.
"""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import INT8

from ..block_ram import BlockRam
from ..hierarchy import place
from ..mac import operand_layout
from ..skew import Skew
from .config import EngineConfig, JobShape

__all__ = ["Dataflow"]


class Dataflow(wiring.Component):
    """Base of the dataflows: their ports, and the path of a word into the array.

    Words are read, also repeatedly, from an `OperandBuffer`, whose ``coming`` announces a word a cycle ahead. ``start``
    begins a job, of ``m`` x ``k`` times ``k`` x ``n``; these must be steady from the cycle before it on. ``credit``
    allows results of another tile (``reserve`` takes it). ``drain`` comes `DrainControl.latency_of` cycles before the
    first sum that it announces reaches lane 0: ``sums[1]``, then ``sums[2]`` a cycle later and so on, each row after
    ``interval`` cycles; ``sums[0]``, a cycle before ``sums[1]``, is the row's sum; float8 has no row sums, and columns
    begin at ``sums[0]``. Once a job's last result has come, the next job may start when it ``rests``.
    """

    a_span: int
    """Rows of A side by side in the count of its words, and ``a_depth`` elements of K."""
    a_depth: int
    b_resident: bool
    """True if B (else A) is held in its buffer for all of a job that reads it more than once."""
    slot_rows: int
    """Rows that a tile's drain has at the most."""
    per_slot: bool
    """True if ``drain`` announces each row (else each tile)."""
    tile_beats: int
    """Largest number of beats of Y that one ``credit`` stands for."""
    drain_cycles: int
    """Cycles between two ``reserve`` at the least."""

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        a_word = data.ArrayLayout(operand_layout(config.a or INT8, config.depth), config.rows)
        b_word = data.ArrayLayout(operand_layout(config.b or INT8, config.depth), config.cols)
        super().__init__(
            {
                "start": In(1),
                "m": In(16),
                "k": In(16),
                "n": In(16),
                **({} if config.float8 else {"a_unsigned": In(1), "b_unsigned": In(1)}),
                "a_coming": In(1),
                "a_look": Out(1),
                "a_read": Out(1),
                "a_fresh": Out(1),
                "a_address": Out(range(config.a_words)),
                "a_release": Out(1),
                "a_word": In(a_word),
                "b_coming": In(1),
                "b_look": Out(1),
                "b_read": Out(1),
                "b_fresh": Out(1),
                "b_address": Out(range(config.b_words)),
                "b_release": Out(1),
                "b_word": In(b_word),
                "credit": In(1),
                "reserve": Out(1),
                "starved": Out(1),
                "rests": Out(1),
                "drain": Out(1),
                "sums": Out(data.ArrayLayout(signed(config.array.word_bits), config.cols + config.ones)),
            }
        )

    @property
    def enter_latency(self) -> int:
        """Cycles from a read to the word in the entry register, where `enter` puts it."""
        return BlockRam.latency_of(self.config.cells) + 1

    def drain_start(self) -> int:
        """Cycles from a beat at the tiler to the first sum at lane 0."""
        raise NotImplementedError

    def last_beat(self, shape: JobShape) -> int:
        """Cycles from the first word taken to the beat that completes the job's last sums, without stalls."""
        raise NotImplementedError

    def last_slot(self, shape: JobShape) -> int:
        """Cycles from the drain's start, as that beat announces it, to the first step of the job's last row."""
        raise NotImplementedError

    def rests_from(self, shape: JobShape) -> int:
        """Cycles from the first word taken to the first in which it rests, where results may leave before that."""
        return 0

    @staticmethod
    def too_large(config: EngineConfig, module: Module, m: Value, k: Value, n: Value) -> list[tuple[Value, str]]:
        """Conditions under which a job does not fit, up to a cycle after its settings, and their errors' names."""
        raise NotImplementedError

    def enter(
        self,
        m: Module,
        platform: object,
        name: str,
        ones: Value,
        keep: list[Value],
        side: data.View,
        *,
        word: data.View | None = None,
        skewed: bool = True,
    ) -> None:
        """Register ``word`` (default: that read) of operand ``name``, integers signed and ``skewed``, as ``side``.

        ``keep[lane * depth + i]`` or, if shorter, ``keep[i]`` says which elements count; the others enter as zeros.
        ``ones[i]`` is put before the word's lanes, if ``side`` has a place for it.
        """
        word = getattr(self, f"{name}_word") if word is None else word
        lanes, depth = word.shape().length, self.config.depth
        extra = side.shape().length - lanes
        entry = Signal(side.shape(), name=f"{name}_entry", reset_less=True)
        for i in range(depth):
            if extra:
                m.d.sync += entry[0][i].eq(ones[i])
            for lane in range(lanes):
                number = Value.cast(word[lane][i])
                if not self.config.float8:  # an unsigned one less 128
                    number = (number ^ (getattr(self, f"{name}_unsigned") << 7))[:8].as_signed()
                kept = keep[(lane * depth + i) % len(keep)]
                m.d.sync += entry[lane + extra][i].eq(Mux(kept, number, Const(0, 8)))
        if not skewed:
            m.d.comb += side.eq(entry)
            return
        skew = Skew(side.shape(), kind=f"skew_{name}")
        m.submodules[f"skew_{name}"] = place(skew, platform)
        m.d.comb += [skew.word.eq(entry), side.eq(skew.out)]
