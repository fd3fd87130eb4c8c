"""Bursts of the bus, made from runs of bytes."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .axi4 import BURST_BEATS
from .bus import ADDRESS_BITS
from .runs import EXTENT_BITS, Mark, Run

__all__ = ["Bursts", "burst"]

_BEAT_BITS = (BURST_BEATS - 1).bit_length()


def burst(bus_bytes: int) -> data.StructLayout:
    """A burst of ``length`` + 1 beats from ``address`` on, a multiple of ``bus_bytes``.

    ``first`` and ``final`` mark the first and last burst of a run. ``offset`` is the position of the run's first byte
    in its first beat, and ``end`` the position of its last byte in its last beat. ``spill`` is set if the run takes one
    beat more than it would from offset 0. For ``fill``, see `Run`.
    """
    place = (bus_bytes - 1).bit_length()
    return data.StructLayout(
        {
            "address": ADDRESS_BITS,
            "length": _BEAT_BITS,
            "first": 1,
            "final": 1,
            "offset": place,
            "end": place,
            "spill": 1,
            "fill": 1,
            "mark": Mark,
        }
    )


class Bursts(wiring.Component):
    """Cuts runs into bursts: each ends with its run, or where a multiple of `BURST_BEATS` beats does.

    A burst a cycle, the first one a cycle after its run was taken.
    """

    def __init__(self, bus_bytes: int) -> None:
        self.bus_bytes = bus_bytes
        self.kind = f"bursts_{8 * bus_bytes}"
        super().__init__({"i": In(stream.Signature(Run)), "o": Out(stream.Signature(burst(bus_bytes)))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        place = (self.bus_bytes - 1).bit_length()
        frame = place + _BEAT_BITS  # bits of an address within as many bytes as a burst has at the most
        run, o = self.i.payload, self.o.payload
        active = Signal()
        first = Signal(reset_less=True)
        upper = Signal(ADDRESS_BITS - frame, reset_less=True)  # of the address
        begin = Signal(_BEAT_BITS, reset_less=True)  # the burst's first beat in its frame
        end = Signal(EXTENT_BITS + 1 - place, reset_less=True)  # the run's last beat, counted from the frame's first
        run_kept = Signal(
            data.StructLayout({"offset": place, "end": place, "spill": 1, "fill": 1, "mark": Mark}), reset_less=True
        )
        final = Signal(reset_less=True)  # the run ends in this frame
        last_byte = Signal(EXTENT_BITS + 1)
        last_place = Signal(frame + 1)
        low = Signal(place + 1)
        m.d.comb += [
            last_byte.eq(run.address[:frame] + run.extent),
            last_place.eq(run.address[:frame] + run.extent[:frame]),
            low.eq(run.address[:place] + run.extent[:place]),
            self.i.ready.eq(~active | (self.o.ready & final)),
            self.o.valid.eq(active),
            o.address.eq(Cat(Const(0, place), begin, upper)),
            o.length.eq(Mux(final, end[:_BEAT_BITS], BURST_BEATS - 1) - begin),
            o.first.eq(first),
            o.final.eq(final),
            o.offset.eq(run_kept.offset),
            o.end.eq(run_kept.end),
            o.spill.eq(run_kept.spill),
            o.fill.eq(run_kept.fill),
            o.mark.eq(run_kept.mark),
        ]
        with m.If(self.i.ready):
            m.d.sync += [
                active.eq(self.i.valid),
                first.eq(1),
                upper.eq(run.address[frame:]),
                begin.eq(run.address[place:frame]),
                end.eq(last_byte[place:]),
                final.eq(~run.extent[frame:].any() & ~last_place[frame]),
                run_kept.offset.eq(run.address[:place]),
                run_kept.end.eq(last_byte[:place]),
                run_kept.spill.eq(low[place]),
                run_kept.fill.eq(run.fill),
                run_kept.mark.eq(run.mark),
            ]
        with m.Elif(self.o.ready):
            m.d.sync += [
                first.eq(0),
                upper.eq(upper + 1),
                begin.eq(0),
                end[_BEAT_BITS:].eq(end[_BEAT_BITS:] - 1),
                final.eq(end[_BEAT_BITS:] == 1),
            ]
        return m
