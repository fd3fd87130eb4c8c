"""The list player: commands from memory become writes and polls on AXI4-Lite, and words of tables."""

from __future__ import annotations

import enum
from typing import NamedTuple

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..engine.axi_lite import axi_lite
from ..engine.table_word import TableWord
from .realigner import aligned_word

__all__ = ["ADDRESS_BITS", "COUNT_BITS", "ListError", "ListPlayer", "Opcode"]

ADDRESS_BITS = 22
COUNT_BITS = 8
_ERROR = 1  # the bit of a response that marks errors


class Opcode(enum.IntEnum):
    """The upper two bits of a command's first word."""

    WRITE = 1
    WAIT = 2
    TABLE = 3


class ListError(enum.IntEnum):
    """Why a list was aborted."""

    NONE = 0
    COMMAND = 1
    CUT_OFF = 2
    REFUSED = 3
    FAILED = 4

    @property
    def meaning(self) -> str:
        """The condition, as a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    ListError.NONE: "The list was not aborted.",
    ListError.COMMAND: "The list has an unknown command.",
    ListError.CUT_OFF: "The list ends within a command.",
    ListError.REFUSED: "A register returned an error: it does not exist or cannot be written.",
    ListError.FAILED: "A wait read a 1 in one of its bits of failure, or a master failed.",
}


class _Words(NamedTuple):
    """The current word, whether it is valid and whether it ends the list, and ``take``, which advances to the next
    word.
    """

    word: Signal
    there: Signal
    take: Signal
    final: Signal


class ListPlayer(wiring.Component):
    """Carries out the commands of a run, which is a list of 32-bit words, the lowest bytes first.

    A command's first word has its `Opcode` in bits 31:30, a count less one in bits 29:22 and the address of a register
    in bits 21:0. ``WRITE`` is followed by that number of words, for the register and the registers after it. ``WAIT``
    is followed by a mask, a value and bits of failure: the register is read until the masked bits have the value; if
    one of the bits of failure is 1, the list ends, ``error`` holds the reason until reset, and no more words are taken.
    ``TABLE`` is followed by that number of words for the engine's tables, from an entry's address on. They leave on
    ``table``, one a cycle. ``refused`` is 1 in the cycle after one that has no place in a table was taken; up to two
    more words may leave before the list ends.

    ``start`` begins a list; ``busy`` until its last command is done, or one has failed. ``words`` counts the words that
    were taken, a cycle late. ``abort`` ends the list like a bit of failure. From the second cycle of ``halt`` on
    nothing new begins; ``idle``: no transfer of the bus is under way.
    """

    def __init__(self, bus_bytes: int) -> None:
        self.bus_bytes = bus_bytes
        self.kind = f"list_player_{8 * bus_bytes}"
        super().__init__(
            axi_lite("m", ADDRESS_BITS, master=True)
            | {
                "i": In(stream.Signature(aligned_word(bus_bytes))),
                "table": Out(stream.Signature(TableWord)),
                "refused": In(1),
                "start": In(1),
                "halt": In(1),
                "abort": In(1),
                "busy": Out(1),
                "idle": Out(1),
                "error": Out(3),
                "words": Out(16),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus_words = self.bus_bytes // 4
        part = Signal(range(max(bus_words, 2)))
        word = Signal(32)
        there = Signal()
        take = Signal()
        ends = Signal()
        final = Signal()  # the word at hand ends the list
        stops = Signal()
        m.d.sync += stops.eq(self.halt)
        m.d.comb += [
            word.eq(Array(self.i.payload.data[32 * i :][:32] for i in range(bus_words))[part]),
            there.eq(self.i.valid & ~stops & ~self.abort),
            ends.eq(part == self.i.payload.end >> 2),
            final.eq(self.i.payload.last & ends),
            self.i.ready.eq(take & there & ends),
        ]
        counted = Signal()
        m.d.sync += counted.eq(take & there)
        with m.If(take & there):
            m.d.sync += part.eq(Mux(ends, 0, part + 1))
        with m.If(counted):
            m.d.sync += self.words.eq(self.words + 1)
        self._commands(m, _Words(word=word, there=there, take=take, final=final), stops)
        return m

    def _commands(self, m: Module, words: _Words, stops: Signal) -> None:
        """One command after the other."""
        address = Signal(ADDRESS_BITS, reset_less=True)
        left = Signal(COUNT_BITS, reset_less=True)
        last = Signal(reset_less=True)  # the word taken was the list's last
        self._reason = Signal(ListError)  # why the list ends, if it ends in this state
        aw, w, asks = (
            _offer(m, channel, getattr(self, f"m_{channel}valid"), getattr(self, f"m_{channel}ready"))
            for channel in ("aw", "w", "ar")
        )
        fills = _offer(m, "table", self.table.valid, self.table.ready)
        m.d.comb += [self.m_awaddr.eq(address), self.m_araddr.eq(address), self.m_wstrb.eq(0b1111)]
        with m.FSM(name="state"):
            with m.State("rest"):
                m.d.comb += self.idle.eq(1)
                with m.If(self.start & ~stops & (self.error == ListError.NONE)):
                    m.d.sync += [self.busy.eq(1), self.words.eq(0)]
                    m.next = "command"
            with m.State("command"):
                opcode, of_masters = words.word[30:], words.word[ADDRESS_BITS - 1]
                why = Mux(opcode == 0, ListError.COMMAND, Mux(words.final, ListError.CUT_OFF, ListError.REFUSED))
                self._at_rest(m, Mux(self.abort, ListError.FAILED, why), words.take)
                with m.If(words.there):
                    m.d.sync += Cat(address, left).eq(words.word)
                    with m.If((opcode == 0) | words.final | ((opcode == Opcode.TABLE) & of_masters)):
                        m.next = "over"
                    with m.Elif(opcode == Opcode.WRITE):
                        m.next = "data"
                    with m.Elif(opcode == Opcode.WAIT):
                        m.next = "mask"
                    with m.Else():
                        m.next = "table"
            with m.State("over"):
                m.d.comb += self.idle.eq(1)
                m.d.sync += [self.error.eq(self._reason), self.busy.eq(0)]
                m.next = "rest"
            self._writing(m, words, [aw, w], address, left, last)
            self._waiting(m, words, asks, last, stops)
            self._filling(m, words, fills, address, left, last)

    def _writing(
        self, m: Module, words: _Words, offers: list[Signal], address: Signal, left: Signal, last: Signal
    ) -> None:
        """Word after word of a WRITE."""
        with m.State("data"):
            self._at_rest(m, ListError.FAILED, words.take)
            with m.If(words.there):
                m.d.sync += [self.m_wdata.eq(words.word), last.eq(words.final), *(offer.eq(1) for offer in offers)]
                m.next = "write"
        with m.State("write"):
            m.d.comb += self.m_bready.eq(1)
            m.d.sync += self._reason.eq(Mux(self.m_bresp[_ERROR], ListError.REFUSED, ListError.CUT_OFF))
            with m.If(self.m_bvalid):
                m.d.sync += [address.eq(address + 4), left.eq(left - 1)]
                with m.If(self.m_bresp[_ERROR] | ((left != 0) & last)):
                    m.next = "over"
                with m.Elif(left != 0):
                    m.next = "data"
                with m.Else():
                    self._next(m, last)

    def _waiting(self, m: Module, words: _Words, asks: Signal, last: Signal, stops: Signal) -> None:
        """The words of a WAIT, then reads."""
        mask, value, failing = (Signal(32, name=name, reset_less=True) for name in ("mask", "value", "failing"))
        refused, fails, matches = (Signal(name=name, reset_less=True) for name in ("refused", "fails", "matches"))
        for name, kept, following in (
            ("mask", mask, "value"),
            ("value", value, "failing"),
            ("failing", failing, "poll"),
        ):
            with m.State(name):
                self._at_rest(m, Mux(self.abort, ListError.FAILED, ListError.CUT_OFF), words.take)
                with m.If(words.there):
                    m.d.sync += [kept.eq(words.word), last.eq(words.final)]
                    m.next = following
                    if following != "poll":
                        with m.If(words.final):
                            m.next = "over"
        with m.State("poll"):
            self._at_rest(m, ListError.FAILED)
            with m.If(~stops & ~self.abort):
                m.d.sync += asks.eq(1)
                m.next = "read"
        with m.State("read"):
            m.d.comb += self.m_rready.eq(1)
            with m.If(self.m_rvalid):
                m.d.sync += [
                    refused.eq(self.m_rresp[_ERROR]),
                    fails.eq((self.m_rdata & failing).any()),
                    matches.eq((self.m_rdata & mask) == value),
                ]
                m.next = "judge"
        with m.State("judge"):
            m.d.comb += self.idle.eq(1)
            m.d.sync += self._reason.eq(Mux(refused, ListError.REFUSED, ListError.FAILED))
            m.next = "poll"
            with m.If(refused | fails):
                m.next = "over"
            with m.Elif(matches):
                self._next(m, last)

    def _filling(self, m: Module, words: _Words, offer: Signal, address: Signal, left: Signal, last: Signal) -> None:
        """The words of a TABLE, and the wait until the last one is in its table."""
        why = Mux(self.refused, ListError.REFUSED, Mux(self.abort, ListError.FAILED, ListError.CUT_OFF))
        with m.State("table"):
            self._at_rest(m, why)
            with m.If(self.refused):
                m.next = "over"
            with m.Elif((~offer | self.table.ready) & ~self.abort):
                m.d.comb += words.take.eq(1)
                with m.If(words.there):
                    m.d.sync += [
                        self.table.payload.address.eq(address),
                        self.table.payload.word.eq(words.word),
                        offer.eq(1),
                        address.eq(address + 4),
                        left.eq(left - 1),
                        last.eq(words.final),
                    ]
                    with m.If(left == 0):
                        m.next = "filled"
                    with m.Elif(words.final):
                        m.next = "over"
        with m.State("filled"):
            self._at_rest(m, why)
            with m.If(self.refused):
                m.next = "over"
            with m.Elif(~offer):
                self._next(m, last)

    def _at_rest(self, m: Module, reason: Value | ListError, take: Signal | None = None) -> None:
        """A state in which nothing is under way, and, with ``take``, the next word is taken; ``reason`` is why a list
        would end in it.
        """
        m.d.comb += self.idle.eq(1)
        m.d.sync += self._reason.eq(reason)
        if take is not None:
            m.d.comb += take.eq(1)
        with m.If(self.abort):
            m.next = "over"

    def _next(self, m: Module, last: Signal) -> None:
        """The next command, unless that was the last one."""
        m.next = "command"
        with m.If(last):
            m.d.sync += self.busy.eq(0)
            m.next = "rest"


def _offer(m: Module, name: str, valid: Signal, ready: Value) -> Signal:
    """Set it to 1 to offer a transfer, which ``ready`` ends."""
    offer = Signal(name=f"offers_{name}")
    m.d.comb += valid.eq(offer)
    with m.If(offer & ready):
        m.d.sync += offer.eq(0)
    return offer
