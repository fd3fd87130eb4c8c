"""A queue: Amaranth's buffered FIFO between two streams."""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Value
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Queue"]


class Queue(wiring.Component):
    """Holds up to ``depth`` payloads; one can leave ``latency`` cycles after it came. Reset empties it."""

    latency = 2

    def __init__(self, shape: object, *, depth: int, kind: str = "queue") -> None:
        self.depth = depth
        self.kind = kind
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = Shape.cast(self.i.payload.shape()).width
        m.submodules.fifo = queue = fifo.SyncFIFOBuffered(width=width, depth=self.depth)
        m.d.comb += [
            queue.w_data.eq(Value.cast(self.i.payload)),
            queue.w_en.eq(self.i.valid),
            self.i.ready.eq(queue.w_rdy),
            Value.cast(self.o.payload).eq(queue.r_data),
            self.o.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.o.ready),
        ]
        return m
