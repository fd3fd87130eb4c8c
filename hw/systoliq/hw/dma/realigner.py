"""The realigner: beats of memory in, a run's bytes from the lowest lane on out."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..skid_buffer import SkidBuffer
from .rotate import rotate
from .runs import Mark

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
        self._token_layout = data.StructLayout(
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
        """The beat itself, two steps of rotation, and the merge with its buffer."""
        return 4

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.bus_bytes
        exit_ = SkidBuffer(self.o.payload.shape(), kind=f"aligned_buffer_{8 * width}")
        m.submodules.exit = place(exit_, platform)
        wiring.connect(m, exit_.o, wiring.flipped(self.o))
        entry = SkidBuffer(self.i.payload.shape(), kind=f"unaligned_buffer_{8 * width}")
        m.submodules.entry = place(entry, platform)
        wiring.connect(m, wiring.flipped(self.i), entry.i)
        step = Signal()
        there_beat = entry.o.valid
        beat = entry.o.payload
        rest = Signal()  # a run's last beat can leave bytes over, which make another word
        m.d.comb += [step.eq(exit_.i.ready), entry.o.ready.eq(step & ~rest)]
        coming, leaves = self._token(m, beat, rest)
        turned = [Signal(self._token_layout, name=f"turned_{half}", reset_less=True) for half in range(2)]
        with m.If(rest):
            m.d.comb += [coming.emits.eq(1), coming.last.eq(1), coming.above.eq(0)]
            m.d.comb += [coming.end.eq(turned[0].end), coming.mark.eq(turned[0].mark)]  # the same run's
        there = [Signal(name=f"there_{half}") for half in range(2)]
        low = len(beat.offset) // 2
        held = Signal(8 * width, reset_less=True)  # the beat before, turned
        now, word = turned[1], exit_.i.payload
        m.d.comb += [
            exit_.i.valid.eq(there[1] & now.emits),
            word.mark.eq(now.mark),
            word.last.eq(now.last),
            word.end.eq(Mux(now.last, now.end, width - 1)),
            word.data.eq(Cat(Mux(now.above[i], now.data[8 * i :][:8], held[8 * i :][:8]) for i in range(width))),
        ]
        with m.If(step):
            m.d.sync += [
                rest.eq(there_beat & ~rest & leaves),
                Cat(there).eq(Cat(there_beat | rest, there[0])),
                turned[0].eq(coming),
                turned[0].data.eq(rotate(coming.data, coming.offset[:low], 8)),
                turned[1].eq(turned[0]),
                turned[1].data.eq(rotate(turned[0].data, turned[0].offset[low:], 8 << low)),
            ]
            with m.If(there[1]):
                m.d.sync += held.eq(now.data)
        return m

    def _token(self, m: Module, beat: data.View, rest: Signal) -> tuple[data.View, Value]:
        """The token of a beat on its way through the stages, and whether the beat leaves bytes over."""
        width = self.bus_bytes
        coming = Signal(self._token_layout, name="coming")
        alone, inside = beat.first & beat.final, beat.offset != 0
        leaves = beat.final & ~beat.spill & inside & ~beat.first
        m.d.comb += [
            coming.data.eq(beat.data),
            coming.emits.eq(~inside | ~beat.first | beat.final),
            coming.last.eq(beat.final & ~leaves),
            coming.above.eq(Cat(~inside | alone | (beat.offset >= width - lane) for lane in range(width))),
            coming.offset.eq(beat.offset),
            coming.end.eq(beat.end - beat.offset),
            coming.mark.eq(beat.mark),
        ]
        return coming, leaves
