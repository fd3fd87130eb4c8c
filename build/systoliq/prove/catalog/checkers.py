"""Rules of a stream, written once: hold offers; lose, repeat and reorder nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Assert, Cover, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

__all__ = ["FifoHarness", "ReadyBlindHarness", "check_held", "check_order"]


def check_held(m: Module, valid: Value, ready: Value, payload: Value) -> None:
    """Once offered, a payload stays until it is taken."""
    waiting = Signal(name="check_waiting")
    offered = Signal(payload.shape(), name="check_offered")
    m.d.sync += [waiting.eq(valid & ~ready), offered.eq(payload)]
    with m.If(waiting):
        m.d.comb += [Assert(valid), Assert(payload == offered)]
    m.d.comb += Cover(waiting & ready)


def check_order(
    m: Module, *, mark: Value, put: Value, put_payload: Value, take: Value, head: Value, head_payload: Value, most: int
) -> Signal:
    """Check that payloads leave once each, in order. Returns the number of payloads inside.

    The solver marks any one payload with ``mark`` as it is ``put``. The number of payloads before it is counted down by
    those that leave (``take``); then the marked one must be at the ``head``. If this holds for every payload, none is
    lost, repeated or reordered. ``most`` is the maximum number of payloads inside.
    """
    inside = Signal(range(most + 1), name="check_inside")
    marked = Signal(name="check_marked")
    before = Signal(range(most + 1), name="check_before")
    kept = Signal(put_payload.shape(), name="check_kept")
    m.d.sync += inside.eq(inside + put - take)
    m.d.comb += [Assert(~take | (inside != 0)), Assert(~put | take | (inside != most))]
    begin = mark & put & ~marked
    with m.If(begin):
        m.d.sync += [marked.eq(1), kept.eq(put_payload), before.eq(inside - take)]
    with m.Elif(marked & take):
        m.d.sync += [before.eq(Mux(before == 0, 0, before - 1)), marked.eq(before != 0)]
    with m.If(marked & (before == 0) & head):
        m.d.comb += Assert(head_payload == kept)
    m.d.comb += [Cover(marked & (before == 0) & take), Cover(inside == most)]
    return inside


class FifoHarness(wiring.Component):
    """A FIFO of ``depth`` between free streams: nothing is lost, repeated or out of order; room for ``depth``.

    ``make`` returns the FIFO. It must offer a payload within its stated ``latency``, and hold at most ``holds``.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._dut = make()
        bits = Value.cast(self._dut.i.payload).shape().width
        super().__init__({"valid": In(1), "payload": In(bits), "ready": In(1), "mark": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self._dut
        m.d.comb += [dut.i.valid.eq(self.valid), dut.i.payload.eq(self.payload), dut.o.ready.eq(self.ready)]
        take = dut.o.valid & self.ready
        check_held(m, dut.o.valid, dut.o.ready, dut.o.payload)
        inside = check_order(
            m,
            mark=self.mark,
            put=self.valid & dut.i.ready,
            put_payload=self.payload,
            take=take,
            head=dut.o.valid,
            head_payload=dut.o.payload,
            most=dut.holds,
        )
        waited = inside  # those that have been inside for the latency
        for step in range(dut.latency - 1):
            later = Signal.like(inside, name=f"waited_{step}")
            m.d.sync += later.eq(waited - (take & (waited != 0)))
            waited = later
        with m.If(inside < dut.depth):
            m.d.comb += Assert(dut.i.ready)
        with m.If(waited != 0):
            m.d.comb += Assert(dut.o.valid)
        return m


class ReadyBlindHarness(wiring.Component):
    """Two copies of a block that see the same, until their outputs' ``ready`` differ: ``valid`` must not differ.

    ``connect(dut, m, drive)`` drives the block's inputs with ``drive(value)``, which gives both copies the same free
    value, and returns its output stream.
    """

    def __init__(self, make: Callable[[], Any], inputs: dict[str, int], connect: Callable[[Any, Module, Any], Any]):
        self._make, self._connect = make, connect
        super().__init__({name: In(width) for name, width in inputs.items()} | {"ready": In(2)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        streams = []
        for index in range(2):
            dut = self._make()
            m.submodules[f"dut_{index}"] = dut
            output = self._connect(dut, m, self)
            m.d.comb += output.ready.eq(self.ready[index])
            streams.append(output)
        one, other = streams
        differed = Signal()
        m.d.sync += differed.eq(differed | (self.ready[0] != self.ready[1]))
        with m.If(~differed):
            m.d.comb += Assert(one.valid == other.valid)
            with m.If(one.valid):
                m.d.comb += Assert(Value.cast(one.payload) == Value.cast(other.payload))
        m.d.comb += Cover(~differed & one.valid & (self.ready[0] != self.ready[1]))
        return m
