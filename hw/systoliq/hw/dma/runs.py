"""Runs of bytes in memory, and the walk over a matrix that makes them."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .bus import ADDRESS_BITS

__all__ = ["EXTENT_BITS", "Mark", "Run", "Walk", "WalkSettings", "filler", "filling"]

EXTENT_BITS = 24


Mark = data.StructLayout({"step_last": 1, "last": 1, "moved": 1})
"""Position of a run in a walk: set if the run ends a step's rows, and the walk. With ``moved``, the step has this run
only: its other rows are the step before's, but the first one, moved up by one.
"""

Run = data.StructLayout({"address": ADDRESS_BITS, "extent": EXTENT_BITS, "fill": 1, "mark": Mark})
"""``extent`` + 1 bytes from ``address`` on. With ``fill``, all are the byte that `filling` put into ``address``."""


def filling(byte: ValueLike) -> Value:
    """The address of a run that fills: ``byte``, of 8 bits, where no extent carries into it, of a whole beat."""
    return Cat(Const(0, ADDRESS_BITS - 8), byte)


def filler(address: Value) -> Value:
    """The byte that `filling` put there."""
    return address[ADDRESS_BITS - 8 :]


WalkSettings = data.StructLayout(
    {
        "address": ADDRESS_BITS,
        "row_stride": ADDRESS_BITS,
        "step_stride": ADDRESS_BITS,
        "rows": 16,
        "steps": 16,
        "extent": EXTENT_BITS,
        "last_extent": EXTENT_BITS,
    }
)
"""A walk: ``rows`` and ``steps`` (both >= 1), their strides in bytes, and the extent of a run: in the last step
``last_extent``, else ``extent``."""


class Walk(wiring.Component):
    """Runs of a matrix: for each group of rows, for each step, for each row of the group, one run.

    A run begins at ``address`` + row * ``row_stride`` + step * ``step_stride``. A group has ``group`` rows, the last
    one the remainder; without ``group``, all rows are one group. ``start``, while ``busy`` is 0, takes the settings,
    which must be steady in that cycle only. A run a cycle, but for one cycle before each group, and one more before the
    first; ``busy`` is 1 from the cycle after ``start`` until the last one was taken.
    """

    def __init__(self, *, group: int | None, kind: str) -> None:
        self.group = group
        self.kind = kind
        super().__init__(
            {"start": In(1), "settings": In(WalkSettings), "busy": Out(1), "o": Out(stream.Signature(Run))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        settings = Signal(WalkSettings, reset_less=True)  # of the current walk
        busy, split, begin, goes = (Signal(name=name) for name in ("going", "split", "begin", "goes"))
        left = Signal(16, reset_less=True)  # rows of groups that have not begun
        rows = Signal(16, reset_less=True)  # of the next group, less one
        behind = Signal(16, reset_less=True)  # rows behind it; final: there are none
        row, step, group_rows = (Signal(16, name=name, reset_less=True) for name in ("row", "step", "group_rows"))
        row_last, step_last, first_step, group_last = (
            Signal(name=name, reset_less=True) for name in ("row_last", "step_last", "first_step", "group_last")
        )
        single, final, group_single = (Signal(name=f, reset_less=True) for f in ("single", "final", "group_single"))
        next_group, step_address, address = (
            Signal(ADDRESS_BITS, name=name, reset_less=True) for name in ("next_group", "step_address", "address")
        )
        run = self.o.payload
        m.d.comb += [
            self.busy.eq(busy),
            self.o.valid.eq(busy & ~split & ~begin),
            goes.eq(self.o.valid & self.o.ready),
            run.address.eq(address),
            run.extent.eq(Mux(step_last, settings.last_extent, settings.extent)),
            run.mark.step_last.eq(row_last),
            run.mark.last.eq(row_last & step_last & group_last),
        ]
        whole = left > self.group if self.group else Const(0, 1)
        m.d.sync += [  # of the next group, in the cycle after ``left`` was set
            rows.eq(Mux(whole, self.group - 1, left - 1) if self.group else left - 1),
            single.eq(left == 1 if self.group != 1 else 1),
            behind.eq(left - self.group if self.group else 0),
            final.eq(~whole),
            split.eq(0),
        ]
        row_end, step_end = address + settings.row_stride, step_address + settings.step_stride
        with m.If(begin & ~split):
            m.d.sync += [
                begin.eq(0),
                *(row.eq(rows), group_rows.eq(rows), row_last.eq(single), group_single.eq(single)),
                *(step.eq(settings.steps - 1), step_last.eq(settings.steps == 1), first_step.eq(1)),
                *(address.eq(next_group), step_address.eq(next_group)),
                *(left.eq(behind), group_last.eq(final)),
            ]
        with m.Elif(goes):
            m.d.sync += [row.eq(row - 1), row_last.eq(row == 1), address.eq(row_end)]
            with m.If(first_step):
                m.d.sync += next_group.eq(row_end)
            with m.If(row_last):
                m.d.sync += [
                    *(row.eq(group_rows), row_last.eq(group_single), first_step.eq(0)),
                    *(step.eq(step - 1), step_last.eq(step == 1)),
                    *(step_address.eq(step_end), address.eq(step_end)),
                ]
                with m.If(step_last):
                    m.d.sync += [busy.eq(~group_last), begin.eq(~group_last)]
        with m.If(self.start & ~busy):  # neither of the others then, nor do they wait for it: it comes from far
            m.d.sync += [busy.eq(1), split.eq(1), begin.eq(1), settings.eq(self.settings)]
            m.d.sync += [left.eq(self.settings.rows), next_group.eq(self.settings.address)]
        return m
