"""The packer of Y: puts the results of a job side by side, so that every beat but the last is full."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from .skid_buffer import SkidBuffer

__all__ = ["YPacker"]

_PARTS = 4  # of a beat: as many beats of the narrow results make one
_TURN_BITS = 3  # of the rotation that are done in one cycle


class YPacker(wiring.Component):
    """Beats of up to ``lanes`` results become beats that are full, in the same order; the last one ends with ``last``.

    A result has ``bits`` bits where ``wide`` is 1 and the low quarter of them where it is 0. ``o.payload.data`` holds
    them from its lowest bits up, and ``keep`` marks the quarters of a word that count: all but in the last beat, where
    the others are zeros. ``wide`` must not change from a job's first beat taken to its last one left.

    A beat a cycle is taken, and the last of a job leaves ``latency`` + `extra` cycles after it was taken. Then the next
    job's beats are taken: ``idle`` says that nothing is on its way.

    ``abort`` (one cycle, with which the sender of ``i`` is reset) drops what is inside. A beat that is offered stays
    until it is taken, and a job of which some beat was offered gets one more, of no meaning, with ``last`` and all of
    ``keep``. Only reset ends an offer before its time. All outputs come from registers.
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
    def _turns(self) -> list[range]:
        """The bits of the fill level by which each stage rotates."""
        bits = (self.lanes - 1).bit_length()
        return [range(bit, min(bit + _TURN_BITS, bits)) for bit in range(0, bits, _TURN_BITS)]

    @property
    def latency(self) -> int:
        """Input register, rotation and merge (with more than one lane), gathering, output register."""
        return 2 + SkidBuffer.latency + (len(self._turns) + 1 if self.lanes > 1 else 0)

    def extra(self, results: int, columns: int) -> int:
        """1 where the last of a job's ``results`` need a beat after the one that their last ``columns`` filled."""
        return int(0 < results % self.lanes < columns)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        skid = SkidBuffer(self._packed, kind="y_skid_buffer")
        m.submodules.skid = place(skid, platform)
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        step = Signal()  # all stages move on
        ended = Signal()  # the last beat was taken and has not left
        taken = Signal()
        valid = Signal()
        held = Signal(self._results, reset_less=True)
        m.d.comb += [
            step.eq(skid.i.ready),
            self.i.ready.eq(step & ~ended),
            taken.eq(self.i.valid & self.i.ready),
        ]
        with m.If(step):
            m.d.sync += [valid.eq(taken), held.eq(self.i.payload)]
        with m.If(self.idle):
            m.d.sync += ended.eq(0)
        with m.If(taken & self.i.payload.last):
            m.d.sync += ended.eq(1)
        with m.If(self.abort):
            m.d.sync += [valid.eq(0), ended.eq(0)]

        if self.lanes > 1:
            *merged, moving = self._merge(m, step, valid, held)
        else:
            merged, moving = [valid, Value.cast(held.data), Const(1, 1), held.last], valid
        gathered = self._gather(m, step, skid, *merged)
        m.d.comb += self.idle.eq(~(moving | gathered | skid.o.valid))
        return m

    def _merge(self, m: Module, step: Value, valid: Signal, held: data.View) -> tuple[Value, ...]:
        """Results of one width side by side: (valid, results, which of them count, last, whether any is on its way)."""
        lanes = self.lanes
        fill = Signal(range(lanes))  # results of the job so far, modulo lanes
        total = Signal(range(2 * lanes))
        wraps = Signal()
        after = Signal(range(lanes))
        m.d.comb += [
            total.eq(fill + held.columns),
            wraps.eq(total >= lanes),
            after.eq(Mux(wraps, total - lanes, total)),
        ]
        with m.If(step & valid):
            m.d.sync += fill.eq(Mux(held.last, 0, after))

        # Rotation: a result moves to its place in a beat, whether in this one or in the next.
        control: Value = Cat(wraps, held.last, after, fill)
        results = [Value.cast(held.data[lane]) for lane in range(lanes)]
        moving: Value = valid
        turning = [valid]
        for number, bits in enumerate(self._turns):
            by = control[-len(fill) :]
            for bit in bits:
                results = [Mux(by[bit], results[lane - (1 << bit)], results[lane]) for lane in range(lanes)]
            turned = [Signal(self.bits, name=f"turned_{number}_{lane}", reset_less=True) for lane in range(lanes)]
            kept = Signal(len(control), name=f"control_{number}", reset_less=True)
            there = Signal(name=f"there_{number}")
            with m.If(step):
                m.d.sync += [there.eq(turning[-1]), Cat(turned).eq(Cat(results))]
            with m.If(step & turning[-1]):
                m.d.sync += kept.eq(control)
            turning.append(there)
            full, below = control[0], _lowest(control[-len(fill) :], lanes)
            moving = moving | there
            results, control = list(turned), kept

        # The lanes whose results wait for the next beat: enables of many registers come from one of their own.
        waits = Signal(lanes)
        with m.If(step):
            m.d.sync += waits.eq((~below | full.replicate(lanes)) & turning[-2].replicate(lanes))

        # Merge: what waited, below the fill level; then the new. What is beyond the end waits for the next beat.
        now, full, last = turning[-1], control[0], control[1]
        left, below = control[2 : 2 + len(fill)], _lowest(control[-len(fill) :], lanes)
        waiting = [Signal(self.bits, name=f"waiting_{lane}", reset_less=True) for lane in range(lanes)]
        rest = Signal()  # the last beat left something over
        over = full & (left != 0)
        merged_valid = Signal()
        merged_last = Signal(reset_less=True)
        counting = _lowest(left, lanes) | (full & ~rest).replicate(lanes)
        counts = Signal(lanes, reset_less=True)
        merged = [Signal(self.bits, name=f"merged_{lane}", reset_less=True) for lane in range(lanes)]
        with m.If(step):
            m.d.sync += [
                merged_valid.eq((now & (full | last)) | rest),
                merged_last.eq((last & ~over) | rest),
                counts.eq(counting),
                rest.eq(now & last & over),
            ]
            for lane in range(lanes):
                result = Mux(below[lane] | rest, waiting[lane], results[lane])
                m.d.sync += merged[lane].eq(Mux(counting[lane], result, 0))
        for lane in range(lanes):
            with m.If(step & waits[lane]):
                m.d.sync += waiting[lane].eq(results[lane])
        with m.If(self.abort):
            m.d.sync += [fill.eq(0), rest.eq(0), merged_valid.eq(0), *(there.eq(0) for there in turning[1:])]
        return merged_valid, Cat(merged), counts, merged_last, moving | rest | merged_valid

    def _gather(
        self, m: Module, step: Value, skid: SkidBuffer, valid: Value, results: Value, counts: Value, last: Value
    ) -> Signal:
        """Wide results as they are, narrow ones four beats in one, into ``skid``. Returns whether a beat is there."""
        lanes, wide = self.lanes, self.wide
        part_bits = lanes * self.bits // _PARTS
        part = Signal(range(_PARTS))
        complete = Signal()
        beat = Signal(self._packed, reset_less=True)
        narrow = Cat(results[lane * self.bits :][: self.bits // _PARTS] for lane in range(lanes))
        wide_keep = Cat(counts[lane].replicate(_PARTS) for lane in range(lanes))
        with m.If(step):
            m.d.sync += complete.eq(valid & (wide | last | (part == _PARTS - 1)))
        with m.If(step & valid):
            m.d.sync += [part.eq(Mux(wide | last, 0, part + 1)), beat.last.eq(last)]
            for i in range(_PARTS):
                bits = slice(i * part_bits, (i + 1) * part_bits)
                keep = slice(i * lanes, (i + 1) * lanes)
                with m.If(wide | (part == i)):
                    m.d.sync += [
                        beat.data[bits].eq(Mux(wide, results[bits], narrow)),
                        beat.keep[keep].eq(Mux(wide, wide_keep[keep], counts)),
                    ]
                with m.Elif((part < i) if i else Const(0, 1)):
                    m.d.sync += [beat.data[bits].eq(0), beat.keep[keep].eq(0)]
        m.d.comb += [skid.i.valid.eq(complete), skid.i.payload.eq(beat)]

        begun = Signal()  # a beat of the job is out, its last one is not
        still_begun = Signal()
        m.d.comb += still_begun.eq(begun)
        with m.If(skid.i.valid & skid.i.ready):
            m.d.comb += still_begun.eq(~beat.last)
        m.d.sync += begun.eq(still_begun)
        with m.If(self.abort):
            m.d.sync += [part.eq(0), complete.eq(still_begun), beat.last.eq(1), beat.keep.eq(~0)]
        return complete


def _lowest(count: Value, lanes: int) -> Value:
    """``lanes`` bits, the lowest ``count`` of them 1."""
    most = (1 << len(count)) - 1
    return Cat(count > lane if lane < most else Const(0, 1) for lane in range(lanes))
