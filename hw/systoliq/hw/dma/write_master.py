"""The write master: runs of bytes and a stream of words that holds them without gaps, into memory over AXI4."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..credit import Credit
from ..fifo import Fifo
from ..hierarchy import place
from ..skid_buffer import SkidBuffer
from .axi4 import BURST_BEATS, INCR, MODIFIABLE, axi4_write
from .bursts import Bursts, burst
from .bus import ADDRESS_BITS
from .early_buffer import EarlyBuffer
from .rotate import rotate
from .runs import Run

__all__ = ["WriteMaster"]

_ERROR = 1  # set in the responses SLVERR and DECERR
_ASKED = 4  # bursts whose data have not begun to leave
_OFFERED = 16  # addresses that were not taken: memory may take few ahead of their data, which leave some cycles later
_UNDER_WAY = 63  # bursts without an answer
_LEAVING = 16  # beats between their words and the bus


_Address = data.StructLayout({"address": ADDRESS_BITS, "length": (BURST_BEATS - 1).bit_length()})
"""Part of a burst."""


class WriteMaster(wiring.Component):
    """Writes runs, in order, from ``words``: a run's bytes follow those of the run before, from the lowest lane up.

    Behind the run whose ``mark.last`` is 1 the rest of its word is dropped. A beat a cycle, even where memory takes
    addresses with their data alone. A burst begins once there is a word of its data: its address is offered in order,
    and its data leave whether the address was taken or not. ``idle``: no burst is under way; ``empty``: nor is there a
    run that will be one. From the third cycle of ``halt`` on none begins, and those under way end with beats in which
    no byte counts. An error response sets ``failed`` until reset, with the same effect. To reset it without one of the
    bus, halt it and wait until it is idle, not in the first three cycles.
    """

    def __init__(self, bus_bytes: int, *, cells: str) -> None:
        self.bus_bytes = bus_bytes
        self.cells = cells
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
        layout = burst(self.bus_bytes)
        run_buffer = SkidBuffer(Run, kind="run_buffer")
        buffer = SkidBuffer(layout, kind=f"burst_buffer_{8 * self.bus_bytes}")
        m.submodules.run_buffer = place(run_buffer, platform)
        m.submodules.burst_buffer = place(buffer, platform)
        m.submodules.bursts = place(bursts, platform)
        wiring.connect(m, wiring.flipped(self.i), run_buffer.i)
        wiring.connect(m, run_buffer.o, bursts.i)
        wiring.connect(m, bursts.o, buffer.i)
        asked = Fifo(layout, depth=_ASKED, cells=self.cells, late=True)
        m.submodules.asked = place(asked, platform)
        asks = Fifo(_Address, depth=_OFFERED, cells=self.cells, late=True)
        m.submodules.asks = place(asks, platform)
        under_way = Signal(range(_UNDER_WAY + 1))
        issue = Signal()
        there = Signal()  # a word of data
        stops = Signal()
        may = Credit(m, _UNDER_WAY, name="may", full=True, give=self.m_bvalid, take=issue)
        told = Signal()  # separate registers, since some of the loads may be far away
        m.d.sync += [told.eq(self.halt | self.failed), stops.eq(told)]
        m.d.comb += [
            issue.eq(buffer.o.valid & asks.i.ready & asked.i.ready & may.any & there & ~stops),
            buffer.o.ready.eq(issue),
            asked.i.valid.eq(issue),
            asked.i.payload.eq(buffer.o.payload),
            asks.i.valid.eq(issue),
            asks.i.payload.address.eq(buffer.o.payload.address),
            asks.i.payload.length.eq(buffer.o.payload.length),
            asks.o.ready.eq(self.m_awready),
            self.m_awaddr.eq(asks.o.payload.address),
            self.m_awlen.eq(asks.o.payload.length),
            self.m_awsize.eq((self.bus_bytes - 1).bit_length()),
            self.m_awburst.eq(INCR),
            self.m_awcache.eq(MODIFIABLE),
            self.m_awvalid.eq(asks.o.valid),
            self.m_bready.eq(1),
            self.empty.eq(self.idle & ~run_buffer.o.valid & ~bursts.o.valid & ~buffer.o.valid),
        ]
        m.d.sync += [
            under_way.eq(under_way + issue - self.m_bvalid),
            self.idle.eq(~(issue | under_way.any())),  # bursts without an answer
        ]
        with m.If(self.m_bvalid & self.m_bresp[_ERROR]):
            m.d.sync += self.failed.eq(1)
        self._pieces(m, platform, asked, there, stops)
        return m

    def _pieces(self, m: Module, platform: object, asked: Fifo, there: Signal, stops: Signal) -> None:
        """For each beat of a burst, its bytes from this word and the next one."""
        width = self.bus_bytes
        lane_bits = (width - 1).bit_length()
        words = EarlyBuffer(8 * width, kind=f"word_buffer_{8 * width}")
        m.submodules.words = place(words, platform)
        wiring.connect(m, wiring.flipped(self.words), words.i)
        fields = {
            "over": 1,
            "leaves": 1,
            "closes": 1,
            "at": lane_bits,
            "turn": lane_bits,
            "strobe": width,
            "last": 1,
        }
        pieces = SkidBuffer(data.StructLayout(fields), kind=f"piece_buffer_{8 * width}")
        m.submodules.pieces = place(pieces, platform)
        ready = Signal()
        goes = Signal()
        left = Signal()
        room = Credit(m, _LEAVING, name="room", full=True, give=left, take=goes)
        coming = self._piece(m, asked, ready)
        at = Signal(lane_bits)  # of the first byte of the beat that is coming, in its word
        behind = Signal(lane_bits + 1)  # place of the byte behind that beat's, counted from the same word's first
        made = Signal.like(pieces.i.payload)
        comes = Signal()
        piece = pieces.o.payload
        m.d.comb += [
            behind.eq(at + coming.extent + 1),
            ready.eq(~comes | pieces.i.ready),
            pieces.i.valid.eq(comes),
            pieces.i.payload.eq(made),
            pieces.o.ready.eq(room.any & (stops | (there & (~piece.over | words.any)))),
            goes.eq(pieces.o.valid & pieces.o.ready),
            words.take.eq(words.any & (~there | (goes & piece.leaves))),
        ]
        with m.If(ready):
            m.d.sync += [
                comes.eq(coming.there),
                *(getattr(made, name).eq(getattr(coming, name)) for name in ("closes", "strobe", "last")),
                made.over.eq(behind > width),
                made.leaves.eq(behind[lane_bits] | coming.closes),  # this word does
                made.at.eq(at),
                made.turn.eq(at - coming.low),
            ]
            with m.If(coming.there):
                m.d.sync += at.eq(Mux(coming.closes, 0, behind[:lane_bits]))
        with m.If(~there | (goes & piece.leaves)):
            ended = there & piece.closes & piece.over
            m.d.sync += there.eq(words.any & ~ended)
        self._turned(m, platform, goes=goes, left=left, words=words, piece=piece, stops=stops)

    def _piece(self, m: Module, asked: Fifo, ready: Signal) -> data.View:
        """The next beat of a burst: which bytes it has, and whether it ends its burst, and its walk."""
        of = asked.o.payload
        place = (self.bus_bytes - 1).bit_length()
        fields = {"there": 1, "low": place, "extent": place, "strobe": self.bus_bytes, "last": 1, "closes": 1}
        piece = Signal(data.StructLayout(fields), name="coming")
        count = Signal(4)
        ends = Signal()
        low = Signal(place)
        high = Signal(place)
        m.d.comb += [
            ends.eq(count == of.length),
            low.eq(Mux(of.first & (count == 0), of.offset, 0)),
            high.eq(Mux(of.final & ends, of.end, self.bus_bytes - 1)),
            asked.o.ready.eq(ready & ends),
        ]
        with m.If(ready):
            m.d.sync += [
                piece.there.eq(asked.o.valid),
                piece.low.eq(low),
                piece.extent.eq(high - low),
                piece.strobe.eq(Cat(_within(low, high, lane, self.bus_bytes) for lane in range(self.bus_bytes))),
                piece.last.eq(ends),
                piece.closes.eq(of.final & ends & of.mark.last),
            ]
            with m.If(asked.o.valid):
                m.d.sync += count.eq(Mux(ends, 0, count + 1))
        return piece

    def _turned(
        self,
        m: Module,
        platform: object,
        *,
        goes: Value,
        left: Signal,
        words: EarlyBuffer,
        piece: data.View,
        stops: Value,
    ) -> None:
        """A beat's bytes, from this word and the next one, turned into their lanes in cycles that never wait."""
        width, bits = self.bus_bytes, len(piece.at)
        taken = Signal()
        going = Signal()
        at = Signal.like(piece.at)
        beat = data.StructLayout({"data": 8 * width, "strobe": width, "last": 1, "turn": bits})
        now = Signal(8 * width, reset_less=True)  # the word that has the beat's first byte
        stages = [Signal(beat, name=f"beat_{index}", reset_less=True) for index in range(4)]  # in the first, no data
        valid = Signal(3)
        begun, first = stages[:2]
        half = bits // 2
        leaves = data.StructLayout({"data": 8 * width, "strobe": width, "last": 1})
        exit_ = Fifo(leaves, depth=_LEAVING, cells=self.cells, late=True)
        m.submodules.exit = place(exit_, platform)
        m.d.sync += [
            taken.eq(words.take),
            going.eq(goes),
            at.eq(piece.at),
            begun.strobe.eq(piece.strobe & ~stops.replicate(width)),
            begun.last.eq(piece.last),
            begun.turn.eq(piece.turn),
            valid.eq(Cat(going, valid)),
            first.eq(begun),
            first.data.eq(
                Cat(
                    Mux(_within(at, None, lane, width), now[8 * lane :][:8], words.taken[8 * lane :][:8])
                    for lane in range(width)
                )
            ),
        ]
        with m.If(taken):
            m.d.sync += now.eq(words.taken)
        for index, (fewest, most) in enumerate([(0, half), (half, bits)], start=1):
            before, after = stages[index : index + 2]
            m.d.sync += [
                after.eq(before),
                after.data.eq(rotate(before.data, before.turn[fewest:most], 8 << fewest)),
            ]
        m.d.comb += [
            exit_.i.valid.eq(valid[-1]),  # there is room: each has its place from the first cycle on
            *(getattr(exit_.i.payload, name).eq(getattr(stages[-1], name)) for name in leaves.members),
            left.eq(exit_.o.valid & self.m_wready),
            self.m_wvalid.eq(exit_.o.valid),
            exit_.o.ready.eq(self.m_wready),
            self.m_wdata.eq(exit_.o.payload.data),
            self.m_wstrb.eq(exit_.o.payload.strobe),
            self.m_wlast.eq(exit_.o.payload.last),
        ]


def _within(low: Value, high: Value | None, lane: int, lanes: int) -> Value:
    """``low`` <= ``lane`` <= ``high``, without comparisons that ``lane`` always satisfies."""
    above = low <= lane if lane < lanes - 1 else Const(1, 1)
    return above & (high >= lane) if high is not None and lane > 0 else above
