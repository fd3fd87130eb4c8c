"""Top of a board: the linked design with clock, reset, serial line and LED of a platform."""

from __future__ import annotations

from amaranth.build import Platform
from amaranth.hdl import ClockDomain, ClockSignal, Const, Elaboratable, Instance, Module, ResetSignal, Signal
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In

from systoliq.hw.link import Linked
from systoliq.hw.link.status_led import StatusLed

from .description import PlainBoard
from .linked import LINK_TOP, line_divisor
from .pll import Pll, Setting

__all__ = ["BoardTop"]

_COLOURS = ("r", "g", "b")

_START = 10  # bits of the count of cycles before the reset ends: iCE40's memories are not there in the first 3 us


class BoardTop(Elaboratable):
    """`link`, as a module of other Verilog. The PLL in `made`, at its setting, makes the clock from the oscillator's;
    it is the oscillator's own if that is None. `baud` is the baud rate of the line.
    """

    def __init__(self, board: PlainBoard, link: Linked, made: tuple[Pll, Setting] | None, baud: int) -> None:
        self._board = board
        self._link = link
        self._made = made
        self._hz = board.hz if made is None else made[1].hz
        self._divisor = line_divisor(self._hz, baud)

    def elaborate(self, platform: Platform) -> Module:
        """The hardware."""
        m = Module()
        link = self._link
        clock, locked = self._clock(m, platform)
        m.domains.start = ClockDomain(reset_less=True)
        m.domains.sync = ClockDomain()
        steady = Signal()
        count = Signal(_START)
        held = Signal(init=1)
        m.submodules.steady = FFSynchronizer(locked, steady, o_domain="start")
        m.d.start += held.eq(~count.all())
        with m.If(~steady):
            m.d.start += count.eq(0)
        with m.Elif(~count.all()):
            m.d.start += count.eq(count + 1)
        m.d.comb += [ClockSignal("start").eq(clock), ClockSignal("sync").eq(clock), ResetSignal("sync").eq(held)]
        ports = [
            ("i" if member.flow == In else "o", name, getattr(link, name))
            for name, member in link.signature.members.items()
        ]
        m.submodules.link = Instance(LINK_TOP, ("i", "clk", ClockSignal()), ("i", "rst", ResetSignal()), *ports)
        m.submodules.status_led = status = StatusLed(round(self._hz))
        m.d.comb += [
            link.divisor.eq(self._divisor),
            status.busy.eq(link.busy | link.receiving),
            status.failed.eq(link.failed),
        ]
        serial = platform.request("uart", 0, dir="-")
        m.submodules.rx = rx = io.Buffer("i", serial.rx)
        m.submodules.tx = tx = io.Buffer("o", serial.tx)
        m.d.comb += [link.rx.eq(rx.i), tx.o.eq(link.tx)]
        self._show(m, platform, status.led)
        return m

    def _show(self, m: Module, platform: Platform, lit: Signal) -> None:
        """The LED; where it is one colour of several, the others stay dark."""
        name, *colour = self._board.led
        led = platform.request(name, 0, dir="-")
        pins = {part: getattr(led, part) for part in _COLOURS} if colour else {"": led}
        for part, pin in pins.items():
            buffer = io.Buffer("o", pin)
            m.submodules[f"led_{part}" if part else "led"] = buffer
            m.d.comb += buffer.o.eq(lit if part in colour or not part else 0)

    def _clock(self, m: Module, platform: Platform) -> tuple[Signal, Signal]:
        """The clock, and whether it is steady."""
        pin = platform.request(platform.default_clk, 0, dir="-")
        if self._made is not None and self._made[0].pad:
            oscillator = pin.io
        else:
            m.submodules.oscillator = buffer = io.Buffer("i", pin)
            oscillator = buffer.i
        if self._made is None:
            return oscillator, Const(1)
        pll, setting = self._made
        made = Signal()
        locked = Signal()
        m.submodules.pll = pll.instance(oscillator, self._board.hz, setting, made, locked)
        return made, locked
