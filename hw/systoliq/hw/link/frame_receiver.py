"""Receiver of frames: bytes of the line in, operands into a memory, and how each frame ended."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import crc, data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from .framing import CHECK_BYTES, ESCAPE, FLAG, HEAD_BYTES, INVERTED, Status
from .uart_receiver import DIVISOR_BITS, Received

__all__ = ["TIMEOUT_BITS", "Ended", "FrameReceiver"]

TIMEOUT_BITS = 1 << 16
"""Number of bit times without a byte after which an open frame ends: 0.57 s at 115200 baud."""

_REST = HEAD_BYTES + CHECK_BYTES


class Ended(data.StructLayout):
    """A frame that ended: its `Status` (if known), sequence number, command, and bytes of operands.

    ``length`` counts up to one more than ``capacity``.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__({"status": 8, "sequence": 8, "command": 8, "length": range(capacity + 2)})


class FrameReceiver(wiring.Component):
    """Reads frames, as `framing` has them, out of the bytes that come with ``valid``, and hands each end on in ``o``.

    Operands go to a memory of ``capacity`` bytes on arrival: ``write``, ``address``, ``operand``. While ``hold`` is
    1, or an end waits in ``o``, nothing is written: a frame that came then ends as BUSY; where an end waits still, it
    is lost. A frame that has begun ends as TIMEOUT if no byte follows for ``timeout_bits`` times ``divisor`` cycles.
    ``open`` is 1 within a frame.

    After a flag, the state is the same as after reset (except an end that waits), whatever came before.
    """

    kind = "frame_receiver"

    def __init__(self, capacity: int, *, timeout_bits: int = TIMEOUT_BITS) -> None:
        self.capacity = capacity
        self.timeout_bits = timeout_bits
        super().__init__(
            {
                "byte": In(Received()),
                "valid": In(1),
                "divisor": In(DIVISOR_BITS),
                "hold": In(1),
                "write": Out(1),
                "address": Out(range(capacity)),
                "operand": Out(8),
                "o": Out(stream.Signature(Ended(capacity))),
                "open": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        late = self._late(m)
        # A byte is classified and unescaped in a separate cycle before the check takes it.
        escaped = Signal()
        flag = Signal()
        content = Signal()
        byte = Signal(8, reset_less=True)
        broken = Signal()
        line = Signal()
        aborted = Signal()
        begun = Signal()
        ends = Signal()
        timed_out = Signal()
        is_flag = self.byte.data == FLAG
        is_escape = ~escaped & (self.byte.data == ESCAPE)
        m.d.comb += [self.open.eq(begun), flag.eq(self.valid & is_flag & ~self.byte.broken)]
        m.d.sync += [
            content.eq(self.valid & ~is_flag & ~is_escape),
            byte.eq(self.byte.data ^ Mux(escaped, INVERTED, 0)),
            ends.eq((flag | late) & begun),
            timed_out.eq(late),
        ]
        with m.If(self.valid):
            m.d.sync += [begun.eq(1), escaped.eq(is_escape), broken.eq(broken | self.byte.broken)]
        with m.If(flag | late):
            m.d.sync += [begun.eq(0), escaped.eq(0), aborted.eq(flag & escaped), broken.eq(0), line.eq(broken)]
        self._take(m, content, byte, ends, line, aborted, timed_out)
        return m

    def _late(self, m: Module) -> Signal:
        """True if the open frame has timed out."""
        wait = Signal(DIVISOR_BITS)
        bits = Signal(range(self.timeout_bits + 1))
        late = Signal()
        m.d.comb += late.eq(self.open & (bits == self.timeout_bits) & ~self.valid)
        with m.If(self.valid | ~self.open):
            m.d.sync += [bits.eq(0), wait.eq(self.divisor - 1)]
        with m.Elif(wait == 0):
            m.d.sync += [bits.eq(bits + 1), wait.eq(self.divisor - 1)]
        with m.Else():
            m.d.sync += wait.eq(wait - 1)
        return late

    def _take(
        self, m: Module, content: Signal, byte: Signal, ends: Signal, line: Signal, aborted: Signal, timed_out: Signal
    ) -> None:
        """Handle the ``content`` of a frame, a cycle after it came, and its end."""
        m.submodules.check = check = crc.Processor(CRC32_ETHERNET(8))
        most = self.capacity + _REST + 1
        count = Signal(range(most + 1))
        sequence = Signal(8, reset_less=True)
        command = Signal(8, reset_less=True)
        # An end follows the last content by a cycle at least: bytes of the line are further apart than that.
        m.d.comb += [check.data.eq(byte), check.valid.eq(content), check.start.eq(ends)]
        busy = self.hold | self.o.valid
        overrun = Signal()
        index = Signal(range(most + 1))
        m.d.comb += [
            index.eq(count - HEAD_BYTES),
            self.write.eq(content & ~busy & ~overrun & (count >= HEAD_BYTES) & (index < self.capacity)),
            self.address.eq(index),
            self.operand.eq(byte),
        ]
        with m.If(content):
            with m.If(count == 0):
                m.d.sync += sequence.eq(byte)
            with m.If(count == 1):
                m.d.sync += command.eq(byte)
            m.d.sync += overrun.eq(overrun | busy)
            with m.If(count != most):
                m.d.sync += count.eq(count + 1)
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(ends):
            m.d.sync += [count.eq(0), overrun.eq(0)]
            with m.If(~self.o.valid):
                end = self.o.payload
                m.d.sync += [
                    self.o.valid.eq(1),
                    end.sequence.eq(Mux(count != 0, sequence, 0)),
                    end.command.eq(command),
                    end.length.eq(count - _REST),
                    end.status.eq(Status.OK),
                ]
                for condition, status in (
                    (~check.match_detected, Status.CHECK),
                    ((count < _REST) | (count == most), Status.LENGTH),
                    (overrun, Status.BUSY),
                    (timed_out, Status.TIMEOUT),
                    (aborted, Status.ABORTED),
                    (line, Status.LINE),
                ):  # the last that holds
                    with m.If(condition):
                        m.d.sync += end.status.eq(status)
