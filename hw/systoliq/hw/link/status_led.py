"""Status of a link on one LED."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["StatusLed"]


class StatusLed(wiring.Component):
    """``led`` is on while the link waits, off for a sixteenth of a second or longer while it is ``busy``, and blinks
    four times a second while ``failed``. ``hz`` is the clock's frequency.
    """

    kind = "status_led"

    def __init__(self, hz: int) -> None:
        self.sixteenth = max(hz // 16, 1)
        """Cycles in a sixteenth of a second."""
        super().__init__({"busy": In(1), "failed": In(1), "led": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = Signal(range(self.sixteenth))
        ends = Signal()
        phase = Signal(2)
        seen = Signal()  # busy since the last sixteenth began
        shown = Signal()
        m.d.sync += [
            ends.eq(count == max(self.sixteenth - 2, 0)),
            count.eq(count + 1),
            seen.eq(seen | self.busy),
            self.led.eq(~(shown | seen)),
        ]
        with m.If(ends):
            m.d.sync += [count.eq(0), phase.eq(phase + 1), seen.eq(self.busy), shown.eq(seen)]
        with m.If(self.failed):
            m.d.sync += self.led.eq(phase[1])
        return m
