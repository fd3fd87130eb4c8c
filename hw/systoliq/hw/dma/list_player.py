"""The list player: commands from memory become writes and polls on AXI4-Lite."""

from __future__ import annotations

import enum

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..engine.axi_lite import axi_lite
from .realigner import aligned_word

__all__ = ["ADDRESS_BITS", "COUNT_BITS", "ListError", "ListPlayer", "Opcode"]

ADDRESS_BITS = 22
COUNT_BITS = 8
_ERROR = 1  # the bit of a response that says so


class Opcode(enum.IntEnum):
    """The upper two bits of a command's first word."""

    WRITE = 1
    WAIT = 2


class ListError(enum.IntEnum):
    """Why a list was given up."""

    NONE = 0
    COMMAND = 1
    """There is no such command."""
    CUT_OFF = 2
    """The list ends within a command."""
    REFUSED = 3
    """A register answered with an error: there is none, or it cannot be written."""
    FAILED = 4
    """A wait saw one of its bits of failure."""


class ListPlayer(wiring.Component):
    """Carries out the commands of a run, which is a list of 32-bit words, the lowest bytes first.

    A command's first word has its `Opcode` in bits 31:30, a count less one in bits 29:22 and the address of a register
    in bits 21:0. ``WRITE`` is followed by so many words, for that register and those behind it. ``WAIT`` is followed by
    a mask, a value and bits of failure: the register is read until the masked bits have the value; if one of the bits
    of failure is 1, the list is given up, ``error`` says why until reset, and no more is taken.

    ``start`` begins a list; ``busy`` until its last command is done, or one has failed. ``words`` counts the words that
    were taken. With ``abort`` the list is given up as for a bit of failure. While ``halt`` is 1 nothing new begins;
    ``idle``: no transfer of the bus is under way.
    """

    def __init__(self, bus_bytes: int) -> None:
        self.bus_bytes = bus_bytes
        self.kind = f"list_player_{8 * bus_bytes}"
        super().__init__(
            axi_lite("m", ADDRESS_BITS, master=True)
            | {
                "i": In(stream.Signature(aligned_word(bus_bytes))),
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
        word, there, take, ends = Signal(32), Signal(), Signal(), Signal()
        final = Signal()  # the word at hand ends the list
        m.d.comb += [
            word.eq(Array(self.i.payload.data[32 * i :][:32] for i in range(bus_words))[part]),
            there.eq(self.i.valid & ~self.halt & ~self.abort),
            ends.eq(part == self.i.payload.end >> 2),
            final.eq(self.i.payload.last & ends),
            self.i.ready.eq(take & there & ends),
        ]
        with m.If(take & there):
            m.d.sync += [part.eq(Mux(ends, 0, part + 1)), self.words.eq(self.words + 1)]
        self._commands(m, word, there, take, final)
        return m

    def _commands(self, m: Module, word: Signal, there: Signal, take: Signal, final: Signal) -> None:
        address = Signal(ADDRESS_BITS, reset_less=True)
        left = Signal(COUNT_BITS, reset_less=True)
        data, mask, value, failing = (Signal(32, name=n, reset_less=True) for n in ("data", "mask", "value", "failing"))
        last = Signal(reset_less=True)  # the word taken was the list's last
        opcode = Signal(2)
        aw, w, ar = Signal(name="aw"), Signal(name="w"), Signal(name="ar")
        m.d.comb += [
            opcode.eq(word[30:]),
            self.m_awaddr.eq(address),
            self.m_araddr.eq(address),
            self.m_awvalid.eq(aw),
            self.m_wvalid.eq(w),
            self.m_wdata.eq(data),
            self.m_wstrb.eq(0b1111),
            self.m_arvalid.eq(ar),
        ]
        for offer, ready in ((aw, self.m_awready), (w, self.m_wready), (ar, self.m_arready)):
            with m.If(offer & ready):
                m.d.sync += offer.eq(0)

        def give_up(error: ListError) -> list[object]:
            return [self.error.eq(error), self.busy.eq(0)]

        def at_rest(*, takes: bool = True) -> None:
            m.d.comb += [self.idle.eq(1), take.eq(takes)]
            with m.If(self.abort):
                m.d.sync += give_up(ListError.FAILED)
                m.next = "rest"

        with m.FSM(name="state"):
            with m.State("rest"):
                m.d.comb += self.idle.eq(1)
                with m.If(self.start & ~self.halt & (self.error == ListError.NONE)):
                    m.d.sync += [self.busy.eq(1), self.words.eq(0)]
                    m.next = "command"
            with m.State("command"):
                at_rest()
                with m.If(there):
                    m.d.sync += [
                        address.eq(word[:ADDRESS_BITS]),
                        left.eq(word[ADDRESS_BITS : ADDRESS_BITS + COUNT_BITS]),
                    ]
                    m.next = "rest"
                    with m.If((opcode != Opcode.WRITE) & (opcode != Opcode.WAIT)):
                        m.d.sync += give_up(ListError.COMMAND)
                    with m.Elif(final):
                        m.d.sync += give_up(ListError.CUT_OFF)
                    with m.Elif(opcode == Opcode.WRITE):
                        m.next = "data"
                    with m.Else():
                        m.next = "mask"
            with m.State("data"):
                at_rest()
                with m.If(there):
                    m.d.sync += [data.eq(word), last.eq(final), aw.eq(1), w.eq(1)]
                    m.next = "write"
            with m.State("write"):
                m.d.comb += self.m_bready.eq(1)
                with m.If(self.m_bvalid):
                    m.d.sync += [address.eq(address + 4), left.eq(left - 1)]
                    m.next = "rest"
                    with m.If(self.m_bresp[_ERROR]):
                        m.d.sync += give_up(ListError.REFUSED)
                    with m.Elif(left != 0):
                        m.next = "data"
                        with m.If(last):
                            m.d.sync += give_up(ListError.CUT_OFF)
                            m.next = "rest"
                    with m.Elif(last):
                        m.d.sync += self.busy.eq(0)
                    with m.Else():
                        m.next = "command"
            for name, kept, following in (("mask", mask, "value"), ("value", value, "failing")):
                with m.State(name):
                    at_rest()
                    with m.If(there):
                        m.d.sync += kept.eq(word)
                        m.next = following
                        with m.If(final):
                            m.d.sync += give_up(ListError.CUT_OFF)
                            m.next = "rest"
            with m.State("failing"):
                at_rest()
                with m.If(there):
                    m.d.sync += [failing.eq(word), last.eq(final)]
                    m.next = "poll"
            with m.State("poll"):
                at_rest(takes=False)
                with m.If(~self.halt & ~self.abort):
                    m.d.sync += ar.eq(1)
                    m.next = "read"
            with m.State("read"):
                m.d.comb += self.m_rready.eq(1)
                with m.If(self.m_rvalid):
                    m.next = "poll"
                    with m.If(self.m_rresp[_ERROR]):
                        m.d.sync += give_up(ListError.REFUSED)
                        m.next = "rest"
                    with m.Elif((self.m_rdata & failing).any()):
                        m.d.sync += give_up(ListError.FAILED)
                        m.next = "rest"
                    with m.Elif((self.m_rdata & mask) == value):
                        m.next = "command"
                        with m.If(last):
                            m.d.sync += self.busy.eq(0)
                            m.next = "rest"
