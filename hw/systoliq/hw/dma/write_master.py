"""The write master: runs of bytes and a stream of words that holds them without gaps, into memory over AXI4."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from .axi4 import INCR, MODIFIABLE, axi4_write
from .bursts import Bursts, burst
from .runs import Run
from .turn import turn

__all__ = ["WriteMaster"]

_ERROR = 1  # the bit of a response that says so: SLVERR or DECERR
_ASKED = 4  # bursts whose data have not all left
_UNDER_WAY = 31  # bursts without an answer


class WriteMaster(wiring.Component):
    """Writes runs, in order, from ``words``: a run's bytes follow those of the run before, from the lowest lane up.

    Behind the run whose ``mark.last`` is 1 the rest of its word is dropped. A beat a cycle. A burst is offered once
    there is a word of its data, at the most `_ASKED` ahead. ``idle``: no burst is offered or under way; ``empty``: nor
    is there a run that will be one. While ``halt`` is 1 no new one is offered, and those under way end with beats in
    which no byte counts. An error response sets ``failed`` until reset, and no new burst is offered. To reset it
    without one of the bus, halt it and wait until it is idle.
    """

    def __init__(self, bus_bytes: int) -> None:
        self.bus_bytes = bus_bytes
        self.kind = f"write_master_{8 * bus_bytes}"
        super().__init__(
            axi4_write("m", bus_bytes)
            | {
                "i": In(stream.Signature(Run)),
                "words": In(stream.Signature(8 * bus_bytes)),
                "halt": In(1),
                "idle": Out(1),
                "empty": Out(1),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bursts = Bursts(self.bus_bytes)
        m.submodules.bursts = place(bursts, platform)
        wiring.connect(m, wiring.flipped(self.i), bursts.i)
        layout = burst(self.bus_bytes)
        asked = SyncFIFOBuffered(width=layout.size, depth=_ASKED)
        m.submodules.asked = asked
        offers, address, length = Signal(), Signal(32, reset_less=True), Signal(4, reset_less=True)
        under_way = Signal(range(_UNDER_WAY + 1))
        issue, there = Signal(), Signal()  # ``there``: a word of data
        m.d.comb += [
            issue.eq(
                bursts.o.valid
                & (~offers | self.m_awready)
                & asked.w_rdy
                & ~under_way.all()
                & there
                & ~self.halt
                & ~self.failed
            ),
            bursts.o.ready.eq(issue),
            asked.w_en.eq(issue),
            asked.w_data.eq(bursts.o.payload.as_value()),
            self.m_awaddr.eq(address),
            self.m_awlen.eq(length),
            self.m_awsize.eq((self.bus_bytes - 1).bit_length()),
            self.m_awburst.eq(INCR),
            self.m_awcache.eq(MODIFIABLE),
            self.m_awvalid.eq(offers),
            self.m_bready.eq(1),
            self.empty.eq(self.idle & ~bursts.o.valid),
        ]
        m.d.sync += [
            under_way.eq(under_way + issue - self.m_bvalid),
            self.idle.eq(~issue & ~under_way.any() & ~self.m_wvalid & ~(offers & ~self.m_awready)),
        ]
        with m.If(issue):
            m.d.sync += [offers.eq(1), address.eq(bursts.o.payload.address), length.eq(bursts.o.payload.length)]
        with m.Elif(self.m_awready):
            m.d.sync += offers.eq(0)
        with m.If(self.m_bvalid & self.m_bresp[_ERROR]):
            m.d.sync += self.failed.eq(1)
        self._pieces(m, layout(asked.r_data), asked, there)
        return m

    def _pieces(self, m: Module, of: data.View, asked: SyncFIFOBuffered, there: Signal) -> None:
        """For each beat of a burst, its bytes from this word and the next one, turned into their places."""
        width = self.bus_bytes
        place = (width - 1).bit_length()
        now = Signal(8 * width, reset_less=True)  # the word that has the next byte, at ``at``
        at = Signal(place)
        count = Signal(4)
        goes, step = Signal(), Signal()
        low, high = Signal(place), Signal(place)
        behind = Signal(place + 1)  # place of the byte behind this beat's, counted from this word's first
        ends = Signal()
        m.d.comb += [
            ends.eq(count == of.length),
            low.eq(Mux(of.first & (count == 0), of.offset, 0)),
            high.eq(Mux(of.final & ends, of.end, width - 1)),
            behind.eq(at + (high - low) + 1),
        ]
        closes = of.final & ends & of.mark.last
        over = behind > width
        leaves = behind[place] | closes  # this word does
        m.d.comb += [
            goes.eq(asked.r_rdy & step & (self.halt | (there & (~over | self.words.valid)))),
            asked.r_en.eq(goes & ends),
            self.words.ready.eq(~there | (goes & leaves)),
        ]
        with m.If(self.words.ready):
            m.d.sync += [now.eq(self.words.payload), there.eq(self.words.valid & ~(there & closes & over))]
        with m.If(goes):
            m.d.sync += [count.eq(Mux(ends, 0, count + 1)), at.eq(Mux(closes, 0, behind[:place]))]

        self._turned(m, goes=goes, step=step, now=now, at=at, low=low, high=high, ends=ends)

    def _turned(
        self, m: Module, *, goes: Value, step: Signal, now: Value, at: Signal, low: Value, high: Value, ends: Value
    ) -> None:
        """Bytes ``low`` to ``high`` of a beat, the first of which is that at ``at``, in the three cycles to the bus."""
        width, place = self.bus_bytes, len(at)
        beat = data.StructLayout({"data": 8 * width, "strobe": width, "last": 1, "turn": place})
        stages = [Signal(beat, name=f"beat_{index}", reset_less=True) for index in range(3)]
        valid = [Signal(name=f"valid_{index}") for index in range(3)]
        half = place // 2
        first = stages[0]
        m.d.comb += [
            step.eq(~valid[-1] | self.m_wready),
            self.m_wvalid.eq(valid[-1]),
            self.m_wdata.eq(stages[-1].data),
            self.m_wstrb.eq(stages[-1].strobe),
            self.m_wlast.eq(stages[-1].last),
        ]
        with m.If(step):
            m.d.sync += [
                Cat(valid).eq(Cat(goes, valid[:-1])),
                first.data.eq(
                    Cat(
                        Mux(at <= lane, now[8 * lane :][:8], self.words.payload[8 * lane :][:8])
                        for lane in range(width)
                    )
                ),
                first.strobe.eq(Cat((low <= lane) & (high >= lane) & ~self.halt for lane in range(width))),
                first.last.eq(ends),
                first.turn.eq(at - low),
            ]
            for index, (fewest, most) in enumerate([(0, half), (half, place)]):
                before, after = stages[index : index + 2]
                m.d.sync += [
                    after.eq(before),
                    after.data.eq(turn(before.data, before.turn[fewest:most], 8 << fewest)),
                ]
