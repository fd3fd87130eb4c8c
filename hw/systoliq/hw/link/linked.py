"""Linked: a layer or a network behind a serial line."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ..block_ram import BlockRam
from ..hierarchy import place
from ..skid_buffer import SkidBuffer
from .answerer import Answerer
from .feeder import Feeder
from .frame_receiver import TIMEOUT_BITS, FrameReceiver
from .frame_transmitter import FrameTransmitter
from .uart_receiver import DIVISOR_BITS, UartReceiver
from .uart_transmitter import UartTransmitter

__all__ = ["Linked"]


class Linked(wiring.Component):
    """``design``, with the streams ``s_axis_a`` and ``m_axis_y``, behind the serial line ``rx`` and ``tx``.

    One frame carries one unit of operands, ``beats`` beats of A: a group of rows, or an image; its last beat has tlast,
    and the answer holds the beats of Y up to one with tlast. Each beat is whole bytes, tdata lowest, tuser above it,
    the first beat first. Nothing of a frame that is not whole and right enters the design; one frame is answered before
    the next is taken.

    ``divisor`` cycles make a bit on the line, constant. ``receiving`` is 1 within a frame, ``busy`` from its end to the
    end of its answer; ``failed`` from an answer with an error to the next one without. ``identity`` is what IDENTIFY
    gives.
    """

    kind = "linked"

    def __init__(
        self,
        design: wiring.Component,
        *,
        beats: int,
        identity: bytes,
        cells: str = "portable",
        timeout_bits: int = TIMEOUT_BITS,
    ) -> None:
        self.design = design
        a, y = _bits(design, "s_axis_a"), _bits(design, "m_axis_y")
        self.unit_bytes = beats * a // 8
        """Bytes of a unit of operands."""
        self.ram = BlockRam(8, depth=self.unit_bytes, cells=cells)
        self.feeder = Feeder(beats=beats, beat_bytes=a // 8, latency=self.ram.latency)
        self.answerer = Answerer(capacity=self.unit_bytes, y_bytes=y // 8, identity=identity)
        self.receiver = FrameReceiver(self.unit_bytes, timeout_bits=timeout_bits)
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1),
                "divisor": In(DIVISOR_BITS),
                "receiving": Out(1),
                "busy": Out(1),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        design, ram, feeder = self.design, self.ram, self.feeder
        answerer, receiver = self.answerer, self.receiver
        uart_receiver, uart_transmitter, transmitter = UartReceiver(), UartTransmitter(), FrameTransmitter()
        answers = SkidBuffer(answerer.o.payload.shape(), kind="answer_buffer")  # both sides' decisions are long
        for name, part in {
            "design": design, "ram": ram, "feeder": feeder, "answerer": answerer, "receiver": receiver,
            "uart_receiver": uart_receiver, "uart_transmitter": uart_transmitter, "transmitter": transmitter,
            "answers": answers,
        }.items():  # fmt: skip
            m.submodules[name] = place(part, platform)
        connect(m, receiver.o, answerer.ended)
        connect(m, answerer.o, answers.i)
        connect(m, answers.o, transmitter.i)
        connect(m, transmitter.o, uart_transmitter.i)
        m.d.comb += [
            uart_receiver.rx.eq(self.rx),
            self.tx.eq(uart_transmitter.tx),
            uart_receiver.divisor.eq(self.divisor),
            uart_transmitter.divisor.eq(self.divisor),
            receiver.divisor.eq(self.divisor),
            receiver.byte.eq(uart_receiver.byte),
            receiver.valid.eq(uart_receiver.valid),
            # An answer has been sent when its last flag is on the line: earlier bytes are not read.
            receiver.hold.eq(answerer.busy | feeder.busy | answers.o.valid | ~transmitter.idle),
            ram.write.eq(receiver.write),
            ram.write_address.eq(receiver.address),
            ram.write_data.eq(receiver.operand),
            ram.read.eq(feeder.read),
            ram.read_address.eq(feeder.address),
            feeder.data.eq(ram.read_data),
            feeder.start.eq(answerer.start),
            self.receiving.eq(receiver.open),
            self.busy.eq(receiver.hold | ~uart_transmitter.idle | receiver.o.valid),
            self.failed.eq(answerer.failed),
        ]  # fmt: skip
        operands = [getattr(design, f"s_axis_a_{part}") for part in _PARTS if hasattr(design, f"s_axis_a_{part}")]
        m.d.comb += [
            Cat(operands).eq(feeder.o.payload.bits),
            design.s_axis_a_tlast.eq(feeder.o.payload.last),
            design.s_axis_a_tvalid.eq(feeder.o.valid),
            feeder.o.ready.eq(design.s_axis_a_tready),
            answerer.y.payload.bits.eq(design.m_axis_y_tdata),
            answerer.y.payload.last.eq(design.m_axis_y_tlast),
            answerer.y.valid.eq(design.m_axis_y_tvalid),
            design.m_axis_y_tready.eq(answerer.y.ready),
        ]
        return m


_PARTS = ("tdata", "tuser")  # of a beat, the lowest first


def _bits(design: wiring.Component, name: str) -> int:
    """Bits of a beat of the stream ``name``; whole bytes."""
    members = design.signature.members
    found = [members[f"{name}_{part}"] for part in _PARTS if f"{name}_{part}" in members]
    return sum(Shape.cast(member.shape).width for member in found)
