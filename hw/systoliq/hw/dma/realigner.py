"""The realigner: beats of memory in, a run's bytes from the lowest lane on out."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .runs import Mark
from .turn import turn

__all__ = ["Realigner", "aligned_word", "memory_beat"]


def memory_beat(bus_bytes: int) -> data.StructLayout:
    """A beat of a run: whether it is its ``first`` and its ``final`` one, and what `burst` says of the run."""
    place = (bus_bytes - 1).bit_length()
    return data.StructLayout(
        {"data": 8 * bus_bytes, "first": 1, "final": 1, "offset": place, "end": place, "spill": 1, "mark": Mark}
    )


def aligned_word(bus_bytes: int) -> data.StructLayout:
    """A word of a run: bytes 0 to ``end`` count, which are all but in the word that is its ``last``."""
    place = (bus_bytes - 1).bit_length()
    return data.StructLayout({"data": 8 * bus_bytes, "end": place, "last": 1, "mark": Mark})


class Realigner(wiring.Component):
    """Turns each beat until the run's first byte is at the bottom, and puts it together with the one before.

    A beat a cycle; a run that takes no beat more than it has words, and begins within one, takes a cycle more, but for
    one of a single beat. A word leaves ``latency`` cycles after its last beat was taken. ``mark`` is the run's.
    """

    def __init__(self, bus_bytes: int) -> None:
        self.bus_bytes = bus_bytes
        self.kind = f"realigner_{8 * bus_bytes}"
        self._token = data.StructLayout(
            {
                "data": 8 * bus_bytes,
                "emits": 1,
                "last": 1,
                "above": bus_bytes,  # the bytes that come from this beat, not from the one before
                "offset": (bus_bytes - 1).bit_length(),
                "end": (bus_bytes - 1).bit_length(),
                "mark": Mark,
            }
        )
        super().__init__(
            {"i": In(stream.Signature(memory_beat(bus_bytes))), "o": Out(stream.Signature(aligned_word(bus_bytes)))}
        )

    @property
    def latency(self) -> int:
        """Two steps of rotation, and the merge."""
        return 3

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.bus_bytes
        beat = self.i.payload
        step = Signal()
        rest = Signal()  # what a run's last beat left over makes a word of its own
        coming = Signal(self._token)
        turned = [Signal(self._token, name=f"turned_{half}", reset_less=True) for half in range(2)]
        there = [Signal(name=f"there_{half}") for half in range(2)]
        offers = Signal()
        word = Signal(self.o.payload.shape(), reset_less=True)
        alone = beat.first & beat.final
        inside = beat.offset != 0
        leaves = beat.final & ~beat.spill & inside & ~beat.first
        m.d.comb += [
            step.eq(~offers | self.o.ready),
            self.i.ready.eq(step & ~rest),
            self.o.valid.eq(offers),
            self.o.payload.eq(word),
            coming.data.eq(beat.data),
            coming.emits.eq(~inside | ~beat.first | beat.final),
            coming.last.eq(beat.final & ~leaves),
            coming.above.eq(Cat(~inside | alone | (beat.offset >= width - lane) for lane in range(width))),
            coming.offset.eq(beat.offset),
            coming.end.eq(beat.end - beat.offset),
            coming.mark.eq(beat.mark),
        ]
        with m.If(rest):
            m.d.comb += [coming.emits.eq(1), coming.last.eq(1), coming.above.eq(0)]
            m.d.comb += [coming.end.eq(turned[0].end), coming.mark.eq(turned[0].mark)]  # the same run's
        place = len(beat.offset)
        low = place // 2
        held = Signal(8 * width, reset_less=True)  # the beat before, turned
        now = turned[1]
        with m.If(step):
            m.d.sync += [
                rest.eq(self.i.valid & ~rest & leaves),
                Cat(there).eq(Cat(self.i.valid | rest, there[0])),
                turned[0].eq(coming),
                turned[0].data.eq(turn(coming.data, coming.offset[:low], 8)),
                turned[1].eq(turned[0]),
                turned[1].data.eq(turn(turned[0].data, turned[0].offset[low:], 8 << low)),
                offers.eq(there[1] & now.emits),
                word.mark.eq(now.mark),
                word.last.eq(now.last),
                word.end.eq(Mux(now.last, now.end, width - 1)),
                word.data.eq(Cat(Mux(now.above[i], now.data[8 * i :][:8], held[8 * i :][:8]) for i in range(width))),
            ]
            with m.If(there[1]):
                m.d.sync += held.eq(now.data)
        return m
