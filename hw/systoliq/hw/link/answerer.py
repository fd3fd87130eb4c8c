"""Answerer: handles a frame that has ended, and sends the answer."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .feeder import Beat
from .frame_receiver import Ended
from .frame_transmitter import Content
from .framing import Command, Status

__all__ = ["Answerer"]


class Answerer(wiring.Component):
    """For each end of a frame in ``ended`` an answer in ``o``, one after the other; ``busy`` from one to the other.

    A good RUN of ``capacity`` bytes gives ``start``, and its answer holds the bytes of the beats that come in ``y``, up
    to one with ``last``; ``y`` must give them. The answer to IDENTIFY is ``identity``. ``failed`` is 1 from an answer
    that is not OK to the next that is.
    """

    kind = "answerer"

    def __init__(self, *, capacity: int, y_bytes: int, identity: bytes) -> None:
        self.capacity = capacity
        self.y_bytes = y_bytes
        self.identity = identity
        super().__init__(
            {
                "ended": In(stream.Signature(Ended(capacity))),
                "start": Out(1),
                "busy": Out(1),
                "failed": Out(1),
                "y": In(stream.Signature(Beat(y_bytes))),
                "o": Out(stream.Signature(Content())),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        end = self.ended.payload
        status = Signal(8)
        sequence = Signal(8, reset_less=True)
        command = Signal(8, reset_less=True)
        wanted = Mux(end.command == Command.RUN, self.capacity, 0)
        out = self.o.payload
        with m.FSM() as fsm:
            m.d.comb += self.busy.eq(~fsm.ongoing("IDLE"))
            with m.State("IDLE"):
                m.d.comb += self.ended.ready.eq(1)
                with m.If(self.ended.valid):
                    m.d.sync += [sequence.eq(end.sequence), command.eq(end.command), status.eq(end.status)]
                    with m.If(end.status == Status.OK):
                        with m.If(end.command > max(Command)):
                            m.d.sync += status.eq(Status.COMMAND)
                        with m.Elif(end.length != wanted):
                            m.d.sync += status.eq(Status.LENGTH)
                    m.next = "SEQUENCE"
            with m.State("SEQUENCE"):
                m.d.comb += [self.o.valid.eq(1), out.data.eq(sequence)]
                with m.If(self.o.ready):
                    m.d.comb += self.start.eq((status == Status.OK) & (command == Command.RUN))
                    m.next = "STATUS"
            with m.State("STATUS"):
                m.d.comb += [self.o.valid.eq(1), out.data.eq(status), out.last.eq(status != Status.OK)]
                with m.If(self.o.ready):
                    m.d.sync += self.failed.eq(status != Status.OK)
                    with m.If(status != Status.OK):
                        m.next = "IDLE"
                    with m.Elif(command == Command.RUN):
                        m.next = "RESULTS"
                    with m.Else():
                        m.next = "IDENTITY"
            with m.State("IDENTITY"):
                self._identify(m)
            self._send_results(m)
        return m

    def _identify(self, m: Module) -> None:
        index = Signal(range(len(self.identity)))
        bits = Const(int.from_bytes(self.identity, "little"), 8 * len(self.identity))
        out = self.o.payload
        m.d.comb += [
            self.o.valid.eq(1),
            out.data.eq(bits.word_select(index, 8)),
            out.last.eq(index == len(self.identity) - 1),
        ]
        with m.If(self.o.ready):
            m.d.sync += index.eq(index + 1)
            with m.If(out.last):
                m.d.sync += index.eq(0)
                m.next = "IDLE"

    def _send_results(self, m: Module) -> None:
        """A beat is taken whole, then sent byte by byte, the lowest first."""
        bits = Signal(8 * self.y_bytes, reset_less=True)
        last = Signal()
        byte = Signal(range(self.y_bytes))
        out = self.o.payload
        with m.State("RESULTS"):
            m.d.comb += self.y.ready.eq(1)
            m.d.sync += byte.eq(0)
            with m.If(self.y.valid):
                m.d.sync += [bits.eq(self.y.payload.bits), last.eq(self.y.payload.last)]
                m.next = "BEAT"
        with m.State("BEAT"):
            ends = byte == self.y_bytes - 1
            m.d.comb += [self.o.valid.eq(1), out.data.eq(bits[:8]), out.last.eq(last & ends)]
            with m.If(self.o.ready):
                m.d.sync += [bits.eq(Cat(bits[8:], Const(0, 8))), byte.eq(byte + 1)]
                with m.If(ends):
                    m.next = "RESULTS"
                    with m.If(last):
                        m.next = "IDLE"
