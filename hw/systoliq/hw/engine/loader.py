"""The loader: lets exactly one job's words of an operand in, and checks that its stream ends where it should."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .loop import Countdown

__all__ = ["Loader", "operand_word"]


def operand_word(word: data.ArrayLayout) -> data.StructLayout:
    """A word of an operand and ``last``, which ends the operand's stream for a job."""
    return data.StructLayout({"data": word, "last": 1})


class Loader(wiring.Component):
    """Passes ceil(length / span) * ceil(k / depth) words after ``start``, and nothing at any other time.

    A word is ``put`` where there is room, which is said a cycle ahead: what lets a word in is a register. ``room`` is
    for a cycle after one without a word, ``more`` after a word.

    ``early`` or ``late`` is raised in the cycle in which a word is passed whose ``last`` is wrong; the loader then
    stops, as it does from the cycle after ``halt`` on: the stream waits, and nothing is lost.
    """

    def __init__(self, word: data.ArrayLayout, *, span: int, depth: int, kind: str) -> None:
        self.word = word
        self.span = span
        self.depth = depth
        self.kind = kind
        super().__init__(
            {
                "i": In(stream.Signature(operand_word(word))),
                "room": In(1),
                "more": In(1),
                "put": Out(1),
                "o": Out(word),
                "start": In(1),
                "halt": In(1),
                "length": In(16),
                "k": In(16),
                "early": Out(1),
                "late": Out(1),
                "active": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        active = Signal()
        opened = Signal()
        waits = Signal()
        goes_on = Signal()
        end = Signal()
        m.d.comb += [
            self.active.eq(active),
            self.i.ready.eq(opened),
            self.put.eq(self.i.valid & opened),
            self.o.eq(self.i.payload.data),
        ]
        inner = Countdown(m, self.k, self.depth, name="k", load=self.start, late=True)
        outer = Countdown(m, self.length, self.span, name="length", load=self.start, late=True)
        m.d.comb += [
            end.eq(inner.final & outer.final),
            self.early.eq(self.put & self.i.payload.last & ~end),
            self.late.eq(self.put & ~self.i.payload.last & end),
            # Whether a word comes, and its ``last``, are known late: what follows from either waits for them.
            waits.eq((self.start | active) & ~self.halt),
            goes_on.eq(~end & ~self.halt),
        ]
        not_last = ~self.i.payload.last
        m.d.sync += [
            active.eq(Mux(self.put, goes_on & not_last, waits)),
            opened.eq(Mux(self.put, goes_on & self.more & not_last, waits & self.room)),
        ]
        with m.If(self.put):
            inner.advance()
            with m.If(inner.final):
                outer.advance()
        return m
