"""The packer of Y: puts the results of a job side by side, so that every beat but the last is full."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..skid_buffer import SkidBuffer

__all__ = ["YPacker"]

_PARTS = 4  # of a beat: as many beats of the narrow results make one


class YPacker(wiring.Component):
    """Beats of up to ``lanes`` results become beats that are full, in the same order; the last one ends with ``last``.

    A result has ``bits`` bits where ``wide`` is 1 and the low quarter of them where it is 0. ``o.payload.data`` holds
    them from its lowest bits up, and ``keep`` marks the quarters of a word that count: all but in the last beat, where
    the others are zeros. ``wide`` must not change from a job's first beat taken to its last one left.

    A beat a cycle is taken, and the last of a job leaves ``latency`` + `extra` cycles after it was taken. Then the next
    job's beats are taken: ``idle`` says, a cycle late, that nothing is on its way.

    ``abort`` (one cycle, in which the sender of ``i`` is reset) drops the stored results. An offered beat stays until
    it is taken, and a job that has offered a beat gets one more, with undefined data, ``last`` and all of ``keep``.
    Only reset ends an offer before its time. All outputs come from registers.
    """

    kind = "y_packer"

    def __init__(self, lanes: int, *, bits: int = 32) -> None:
        if bits % _PARTS:
            raise ValueError(f"bits must be a multiple of {_PARTS}, not {bits!r}")
        self.lanes = lanes
        self.bits = bits
        columns = unsigned(lanes.bit_length())
        self._results = data.StructLayout(
            {"data": data.ArrayLayout(unsigned(bits), lanes), "columns": columns, "last": 1}
        )
        self._packed = data.StructLayout({"data": lanes * bits, "keep": lanes * _PARTS, "last": 1})
        super().__init__(
            {
                "wide": In(1),
                "abort": In(1),
                "idle": Out(1),
                "i": In(stream.Signature(self._results)),
                "o": Out(stream.Signature(self._packed)),
            }
        )

    @property
    def latency(self) -> int:
        """Input register, a rotation for each bit of the fill level and a merge (none with one lane), gathering, output
        register.
        """
        turns = (self.lanes - 1).bit_length()
        return 2 + SkidBuffer.latency + (turns + 1 if self.lanes > 1 else 0)

    def extra(self, results: int, columns: int) -> int:
        """1 if the last of a job's ``results`` need one more beat after the beat that their last ``columns`` filled."""
        return int(0 < results % self.lanes < columns)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        skid = SkidBuffer(self._packed, kind="y_skid_buffer")
        m.submodules.skid = place(skid, platform)
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        step = Signal()  # all stages move on
        ended = Signal()  # the last beat was taken and has not left
        stays_ended = Signal()
        takes = Signal(init=1)  # the first stage: all stages move on, and the job has not ended
        waits = Signal()  # there will be no place in the skid buffer
        taken = Signal()
        valid = Signal()
        held = Signal(self._results, reset_less=True)
        m.d.comb += [
            step.eq(skid.i.ready),
            self.i.ready.eq(takes),
            taken.eq(self.i.valid & takes),
            waits.eq(skid.o.valid & ~skid.o.ready & (skid.i.valid | ~skid.i.ready)),
            stays_ended.eq(((ended & ~self.idle) | (taken & self.i.payload.last)) & ~self.abort),
        ]
        m.d.sync += [ended.eq(stays_ended), takes.eq(~waits & ~stays_ended)]
        with m.If(step):
            m.d.sync += [valid.eq(taken), held.eq(self.i.payload)]
        with m.If(self.abort):
            m.d.sync += valid.eq(0)

        if self.lanes > 1:
            *merged, moving = self._merge(m, step, valid, held, ended)
        else:
            merged, moving = [valid, Value.cast(held.data), Const(1, 1), held.last], valid
        gathered = self._gather(m, step, skid, *merged)
        idle = Signal(init=1)
        m.d.comb += self.idle.eq(idle)
        m.d.sync += idle.eq(~(taken | moving | gathered | skid.o.valid | self.abort))
        return m

    def _place(self, m: Module, step: Value, valid: Signal, held: data.View, ended: Signal) -> data.View:
        """The lanes of the results of ``held``: counted modulo lanes, from 0 for each job."""
        lanes = self.lanes
        fill = Signal(range(lanes))  # results of the job so far
        total = Signal(range(2 * lanes))
        place = Signal(
            data.StructLayout({"fill": fill.shape(), "left": fill.shape(), "full": 1, "last": 1}), name="place"
        )
        m.d.comb += [
            total.eq(fill + held.columns),
            place.fill.eq(fill),
            place.full.eq(total >= lanes),
            place.left.eq(total - Mux(place.full, lanes, 0)),
            place.last.eq(held.last),
        ]
        with m.If(step & valid):
            m.d.sync += fill.eq(place.left)
        with m.If((ended & ~valid) | self.abort):
            m.d.sync += fill.eq(0)
        return place

    def _turn(
        self, m: Module, step: Value, valid: Signal, held: data.View, place: data.View
    ) -> tuple[list[Value], data.View, Signal, Value]:
        """Rotation: a result moves to its place in a beat, whether in this one or in the next.

        Gives (results, their place and whether they come, both before the last turn, whether any is on its way).
        """
        lanes = self.lanes
        results = [Value.cast(held.data[lane]) for lane in range(lanes)]
        coming, there = valid, valid
        moving: Value = valid
        following = place
        for bit in range(len(place.fill)):
            place, coming = following, there
            turned = [Signal(self.bits, name=f"turned_{bit}_{lane}", reset_less=True) for lane in range(lanes)]
            following = Signal(place.shape(), name=f"place_{bit}", reset_less=True)
            there = Signal(name=f"there_{bit}")
            with m.If(step):
                m.d.sync += [there.eq(coming), following.eq(place)]
                for lane in range(lanes):
                    m.d.sync += turned[lane].eq(Mux(place.fill[bit], results[lane - (1 << bit)], results[lane]))
            with m.If(self.abort):
                m.d.sync += there.eq(0)
            moving = moving | there
            results = turned
        return results, place, coming, moving

    def _merge(self, m: Module, step: Value, valid: Signal, held: data.View, ended: Signal) -> tuple[Value, ...]:
        """Results of one width side by side: (valid, results, which of them count, last, whether any is on its way)."""
        lanes = self.lanes
        place = self._place(m, step, valid, held, ended)
        results, place, coming, moving = self._turn(m, step, valid, held, place)

        # Controls of the merge, decided with the last turn: control registers with many loads are duplicated per lane.
        over = Signal()  # the job's last beat leaves something over, which makes a beat of its own
        rest = Signal()  # that beat
        emits = Signal()
        closes = Signal(reset_less=True)
        waits = Signal(lanes)  # the lanes whose results wait for the next beat
        older = Signal(lanes, reset_less=True)  # those that show what waited
        counting = Signal(lanes, reset_less=True)  # those that show anything
        ends = Signal(lanes, reset_less=True)
        below, left = _lowest(place.fill, lanes), _lowest(place.left, lanes)
        beyond = place.full & (place.left != 0)
        with m.If(step):
            m.d.sync += [
                over.eq(coming & place.last & beyond),
                rest.eq(over),
                emits.eq(coming & (place.full | place.last)),
                closes.eq(place.last & ~beyond),
                waits.eq((~below | place.full.replicate(lanes)) & coming.replicate(lanes)),
                older.eq(below | ~coming.replicate(lanes)),
                counting.eq(Mux(coming, left | place.full.replicate(lanes), ends)),
                ends.eq(left),
            ]

        # Merge: what waited, below the fill level; then the new. Results beyond the end wait for the next beat.
        waiting = [Signal(self.bits, name=f"waiting_{lane}", reset_less=True) for lane in range(lanes)]
        merged = [Signal(self.bits, name=f"merged_{lane}", reset_less=True) for lane in range(lanes)]
        merged_valid = Signal()
        merged_last = Signal(reset_less=True)
        counts = Signal(lanes, reset_less=True)
        with m.If(step):
            m.d.sync += [merged_valid.eq(emits | rest), merged_last.eq(closes | rest), counts.eq(counting)]
        for lane in range(lanes):
            with m.If(step):
                result = Mux(older[lane], waiting[lane], results[lane])
                m.d.sync += merged[lane].eq(result & counting[lane].replicate(self.bits))
            with m.If(step & waits[lane]):
                m.d.sync += waiting[lane].eq(results[lane])
        with m.If(self.abort):
            m.d.sync += [over.eq(0), rest.eq(0), emits.eq(0), merged_valid.eq(0)]
        return merged_valid, Cat(merged), counts, merged_last, moving | rest | merged_valid

    def _gather(
        self, m: Module, step: Value, skid: SkidBuffer, valid: Value, results: Value, counts: Value, last: Value
    ) -> Signal:
        """Wide results as they are, narrow ones four beats in one, into ``skid``. Returns whether a beat is there."""
        lanes = self.lanes
        part_bits = lanes * self.bits // _PARTS
        wide = Signal()  # near those many that look at it
        vacant = Signal(_PARTS - 1, init=-1)  # the parts that are not filled; the last one never is
        ends = wide | last | ~vacant[-1]
        complete = Signal()
        beat = Signal(self._packed, reset_less=True)
        narrow = Cat(results[lane * self.bits :][: self.bits // _PARTS] for lane in range(lanes))
        wide_keep = Cat(counts[lane].replicate(_PARTS) for lane in range(lanes))
        m.d.sync += wide.eq(self.wide)
        with m.If(step):
            m.d.sync += [complete.eq(valid & ends), beat.last.eq(last)]
        with m.If(step & valid):
            m.d.sync += vacant.eq(Mux(ends, ~0, vacant << 1))
        for i in range(_PARTS):
            bits = slice(i * part_bits, (i + 1) * part_bits)
            keep = slice(i * lanes, (i + 1) * lanes)
            first = ~vacant[i - 1] if i else Const(1, 1)  # of the vacant parts: the others are emptied
            # Without a beat vacant parts take what there is: the next beat comes over it.
            fills = step & (vacant[i] if i < len(vacant) else Const(1, 1))
            with m.If(fills):
                m.d.sync += beat.data[bits].eq(Mux(wide, results[bits], narrow & first.replicate(part_bits)))
            kept = Mux(wide, wide_keep[keep], counts & first.replicate(lanes))
            with m.If(fills | self.abort):
                m.d.sync += beat.keep[keep].eq(kept | self.abort.replicate(lanes))
        m.d.comb += [skid.i.valid.eq(complete), skid.i.payload.eq(beat)]

        begun = Signal()  # a beat of the job is out, its last one is not
        still_begun = Signal()
        m.d.comb += still_begun.eq(begun)
        with m.If(skid.i.valid & skid.i.ready):
            m.d.comb += still_begun.eq(~beat.last)
        m.d.sync += begun.eq(still_begun)
        with m.If(self.abort):
            m.d.sync += [vacant.eq(~0), complete.eq(still_begun), beat.last.eq(1)]
        return complete


def _lowest(count: Value, lanes: int) -> Value:
    """``lanes`` bits, the lowest ``count`` of them 1."""
    most = (1 << len(count)) - 1
    return Cat(count > lane if lane < most else Const(0, 1) for lane in range(lanes))
