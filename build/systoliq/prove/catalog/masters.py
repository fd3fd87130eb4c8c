"""Proofs of the masters' buffers: the FIFO, the early buffer and the vector unit's queues."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.dma.early_buffer import EarlyBuffer
from systoliq.hw.dma.word_queue import WordQueue
from systoliq.hw.fifo import Fifo

from ..property import Property, SeededBug, Unbounded
from .checkers import FifoHarness, check_order

__all__ = ["PROPERTIES"]

_BITS = 2  # of a payload: the blocks move payloads and never look into them


class EarlyHarness(wiring.Component):
    """An early buffer between a free stream and a receiver that takes when it likes, and sees it a cycle later; or a
    queue of `depth` words, which has the same contract.
    """

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        super().__init__({"valid": In(1), "payload": In(_BITS), "take": In(1), "mark": In(1)})

    def _dut(self) -> EarlyBuffer | WordQueue:
        if self.depth:
            return WordQueue(unsigned(_BITS), cells="portable", depth=self.depth)
        return EarlyBuffer(unsigned(_BITS), kind="early_buffer")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self._dut()
        most = self.depth or 2
        put, seen = self.valid & dut.i.ready, Signal()
        m.d.comb += [
            dut.i.valid.eq(self.valid),
            dut.i.payload.eq(self.payload),
            dut.take.eq(self.take),
            Assume(dut.any | ~self.take),
        ]
        m.d.sync += seen.eq(self.take)
        inside = check_order(
            m,
            mark=self.mark,
            put=put,
            put_payload=self.payload,
            take=seen,
            head=seen,
            head_payload=dut.taken,
            most=most,
        )
        held, ready = Signal.like(inside), Signal.like(inside)
        m.d.comb += ready.eq(inside if self.depth else held)  # a queue's place is free a cycle later
        m.d.comb += [held.eq(inside - seen), Assert(dut.any == (held != 0)), Assert(dut.i.ready == (ready < most))]
        m.d.comb += Cover(put & self.take & seen)
        return m


def _fifo(depth: int) -> Property:
    return Property(
        name=f"masters' FIFO of {depth}",
        claim="what comes leaves once, in order; there is room for its depth, none is overwritten, none waits",
        harness=lambda: FifoHarness(lambda: Fifo(unsigned(_BITS), depth=depth, cells="portable", late=True)),
        method=Unbounded(cover_cycles=2 * depth + 8),
        bug=SeededBug(module="fifo", old='self.depth, name="room"', new='self.depth + 1, name="room"'),
        quick=depth == 2,
    )


PROPERTIES = (
    _fifo(2),
    _fifo(4),
    Property(
        name="masters' early buffer",
        claim="what comes is there once, in order, in the cycle after it was taken; there is room for two, none waits",
        harness=EarlyHarness,
        method=Unbounded(cover_cycles=10),
        bug=SeededBug(module="dma.early_buffer", old="shown.eq(oldest)", new="shown.eq(oldest ^ self.take)"),
        quick=True,
    ),
    Property(
        name="vector unit's queue of 4 words",
        claim="what comes is there once, in order, in the cycle after it was taken; there is room for four, none waits",
        harness=lambda: EarlyHarness(4),
        method=Unbounded(cover_cycles=16),
        bug=SeededBug(module="dma.word_queue", old='self.depth, name="room"', new='self.depth + 1, name="room"'),
        quick=True,
    ),
)
