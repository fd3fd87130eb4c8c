"""The read master: runs of bytes in, their bytes out, over AXI4."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..fifo import Fifo
from ..hierarchy import place
from ..skid_buffer import SkidBuffer
from .axi4 import BURST_BEATS, INCR, MODIFIABLE, axi4_read
from .bursts import Bursts, burst
from .realigner import Realigner, aligned_word
from .runs import Run, filler

__all__ = ["ReadMaster"]

_ASKED = 64  # outstanding bursts at most
_LATE = 4  # bursts that may be requested before the count of free places is updated
_ERROR = 1  # set in the responses SLVERR and DECERR


class ReadMaster(wiring.Component):
    """Reads runs, in order, as words that begin with the run's first byte; a run that fills asks for nothing.

    Bursts are asked for as long as there is room for all of their beats, ``beats`` in all, so that ``rready`` is always
    1: what waits here never keeps others from the memory. ``idle``: no burst is offered or under way. From the
    second cycle of ``halt`` on no new one is offered. An error response sets ``failed`` until reset, with the same
    effect, and neither its beat nor a later one becomes a word. To reset it without one of the bus, halt it and wait
    until it is idle, not in the first two cycles.
    """

    def __init__(self, bus_bytes: int, *, cells: str, beats: int = 256) -> None:
        self.bus_bytes = bus_bytes
        self.cells = cells
        self.beats = beats
        self.kind = f"read_master_{8 * bus_bytes}"
        self._room = Signal(name="room")  # for the longest burst
        super().__init__(
            axi4_read("m", bus_bytes)
            | {
                "i": In(stream.Signature(Run)),
                "o": Out(stream.Signature(aligned_word(bus_bytes))),
                "halt": In(1),
                "idle": Out(1),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        layout = burst(self.bus_bytes)
        bursts, realigner = Bursts(self.bus_bytes), Realigner(self.bus_bytes)
        run_buffer = SkidBuffer(Run, kind="run_buffer")
        burst_buffer = SkidBuffer(layout, kind=f"burst_buffer_{8 * self.bus_bytes}")
        m.submodules.run_buffer = place(run_buffer, platform)
        m.submodules.burst_buffer = place(burst_buffer, platform)
        m.submodules.bursts = place(bursts, platform)
        m.submodules.realigner = place(realigner, platform)
        wiring.connect(m, wiring.flipped(self.i), run_buffer.i)
        wiring.connect(m, run_buffer.o, bursts.i)
        wiring.connect(m, bursts.o, burst_buffer.i)
        bits = 8 * self.bus_bytes
        asked = Fifo(layout, depth=_ASKED, cells=self.cells, late=True)
        beats = Fifo(bits, depth=self.beats, cells=self.cells, late=True)
        m.submodules.asked, m.submodules.beats = place(asked, platform), place(beats, platform)
        of_beats = SkidBuffer(layout, kind=f"burst_buffer_{bits}")
        m.submodules.of_beats = place(of_beats, platform)
        wiring.connect(m, asked.o, of_beats.i)
        issue, leaves = self._asks(m, burst_buffer.o, asked)
        given = Signal()
        m.d.comb += [
            beats.i.valid.eq(self.m_rvalid),
            beats.i.payload.eq(self.m_rdata),
            self.m_rready.eq(1),
        ]
        # The counts below are one, two or three cycles late: room is kept for as many of the longest bursts.
        issued = Signal()
        size = Signal(range(BURST_BEATS + 1), reset_less=True)
        left = Signal()
        free = Signal(range(self.beats + 1), init=self.beats)  # places for beats that are not asked for
        under_way = Signal(range(self.beats + 1))  # beats that were asked for and have not come
        m.d.sync += [
            issued.eq(issue & ~burst_buffer.o.payload.fill),
            size.eq(burst_buffer.o.payload.length + 1),
            left.eq(leaves),
            given.eq(self.m_rvalid),
            free.eq(free - Mux(issued, size, 0) + left),
            self._room.eq(free >= _LATE * BURST_BEATS),
            under_way.eq(under_way + Mux(issued, size, 0) - given),
            self.idle.eq(~(issue | issued | self.m_arvalid | under_way.any())),
        ]
        with m.If(self.m_rvalid & self.m_rresp[_ERROR]):
            m.d.sync += self.failed.eq(1)
        self._beats(m, realigner, of_beats.o, beats.o, leaves)
        wiring.connect(m, realigner.o, wiring.flipped(self.o))
        return m

    def _asks(self, m: Module, bursts: stream.Interface, asked: Fifo) -> tuple[Signal, Signal]:
        """A burst is offered, or fills: (whether it is, in this cycle; whether a beat leaves, to be driven)."""
        offers = Signal()
        address = Signal(32, reset_less=True)
        length = Signal(4, reset_less=True)
        issue = Signal()
        stops = Signal()
        fill = bursts.payload.fill
        m.d.sync += stops.eq(self.halt | self.failed)
        m.d.comb += [
            issue.eq(bursts.valid & (fill | ((~offers | self.m_arready) & self._room)) & asked.i.ready & ~stops),
            bursts.ready.eq(issue),
            asked.i.valid.eq(issue),
            asked.i.payload.eq(bursts.payload),
            self.m_araddr.eq(address),
            self.m_arlen.eq(length),
            self.m_arsize.eq((self.bus_bytes - 1).bit_length()),
            self.m_arburst.eq(INCR),
            self.m_arcache.eq(MODIFIABLE),
            self.m_arvalid.eq(offers),
        ]
        with m.If(issue & ~fill):
            m.d.sync += [offers.eq(1), address.eq(bursts.payload.address), length.eq(bursts.payload.length)]
        with m.Elif(self.m_arready):
            m.d.sync += offers.eq(0)
        return issue, Signal(name="leaves")

    def _beats(
        self, m: Module, realigner: Realigner, asked: stream.Interface, beats: stream.Interface, leaves: Signal
    ) -> None:
        """Pass each beat to the realigner, with the position of its burst."""
        of = asked.payload
        count = Signal(4)
        passes = Signal()
        taken = Signal()
        failed = Signal()  # the beat of the error is still in the FIFO when this is 1
        ends = count == of.length
        beat = realigner.i.payload
        m.d.sync += failed.eq(self.failed)
        m.d.comb += [
            passes.eq(asked.valid & ~failed),
            realigner.i.valid.eq(passes & (beats.valid | of.fill)),
            leaves.eq(beats.valid & beats.ready),
            beats.ready.eq(passes & realigner.i.ready & ~of.fill),
            asked.ready.eq(taken & ends),
            beat.data.eq(Mux(of.fill, filler(of.address).replicate(self.bus_bytes), beats.payload)),
            beat.first.eq(of.first & (count == 0)),
            beat.final.eq(of.final & ends),
            *(getattr(beat, name).eq(getattr(of, name)) for name in ("offset", "end", "spill", "mark")),
        ]
        m.d.comb += taken.eq(realigner.i.valid & realigner.i.ready)
        with m.If(taken):
            m.d.sync += count.eq(Mux(ends, 0, count + 1))
