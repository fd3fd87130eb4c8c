"""Runs of bytes in memory, and the walk over a matrix that makes them."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .axi4 import ADDRESS_BITS

__all__ = ["EXTENT_BITS", "Mark", "Run", "Walk", "WalkSettings"]

EXTENT_BITS = 24


Mark = data.StructLayout({"step_last": 1, "last": 1})
"""Where a run stands in a walk: whether it ends a step's rows, and the walk."""

Run = data.StructLayout({"address": ADDRESS_BITS, "extent": EXTENT_BITS, "mark": Mark})
"""``extent`` + 1 bytes from ``address`` on."""

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
    one what is left; without it all rows are one. ``start``, while ``busy`` is 0, takes the settings, which must be
    steady in that cycle only. A run a cycle; ``busy`` is 1 from the cycle after ``start`` until the last one was taken.
    """

    def __init__(self, *, group: int | None, kind: str) -> None:
        self.group = group
        self.kind = kind
        super().__init__(
            {"start": In(1), "settings": In(WalkSettings), "busy": Out(1), "o": Out(stream.Signature(Run))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        settings = Signal(WalkSettings, reset_less=True)  # of the walk that goes on
        run = self.o.payload
        row = Signal(16, reset_less=True)  # rows of the group behind this one
        below = Signal(16, reset_less=True)  # rows behind the group
        step = Signal(16, reset_less=True)  # steps behind this one
        group_address = Signal(ADDRESS_BITS, reset_less=True)  # of the group's first row, in the first step
        next_group = Signal(ADDRESS_BITS, reset_less=True)
        step_address = Signal(ADDRESS_BITS, reset_less=True)  # of the group's first row, in this step
        address = Signal(ADDRESS_BITS, reset_less=True)
        first_step = Signal(reset_less=True)
        rows, left = self._group(self.settings.rows)
        next_rows, next_left = self._group(below)
        group_rows = Signal(16, reset_less=True)  # rows of this group, less one
        m.d.comb += [
            self.o.valid.eq(self.busy),
            run.address.eq(address),
            run.extent.eq(Mux(step == 0, settings.last_extent, settings.extent)),
            run.mark.step_last.eq(row == 0),
            run.mark.last.eq((row == 0) & (step == 0) & (below == 0)),
        ]
        busy = Signal()
        m.d.comb += self.busy.eq(busy)
        row_end = address + settings.row_stride
        step_end = step_address + settings.step_stride
        with m.If(self.start & ~busy):
            m.d.sync += [
                busy.eq(1),
                settings.eq(self.settings),
                step.eq(self.settings.steps - 1),
                row.eq(rows),
                group_rows.eq(rows),
                below.eq(left),
                *(each.eq(self.settings.address) for each in (group_address, step_address, address)),
                first_step.eq(1),
            ]
        with m.Elif(busy & self.o.ready):
            m.d.sync += [row.eq(row - 1), address.eq(row_end)]
            with m.If(first_step):
                m.d.sync += next_group.eq(row_end)
            with m.If(row == 0):
                m.d.sync += [
                    first_step.eq(step == 0),
                    row.eq(group_rows),
                    step.eq(step - 1),
                    step_address.eq(step_end),
                    address.eq(step_end),
                ]
                with m.If(step == 0):
                    begin = Mux(first_step, row_end, next_group)
                    m.d.sync += [
                        busy.eq(below != 0),
                        row.eq(next_rows),
                        group_rows.eq(next_rows),
                        below.eq(next_left),
                        step.eq(settings.steps - 1),
                        *(each.eq(begin) for each in (group_address, step_address, address)),
                    ]
        return m

    def _group(self, rows: Signal) -> tuple[object, object]:
        """Rows of the next group less one, where there are ``rows``, and how many are left behind it."""
        if self.group is None:
            return rows - 1, 0
        whole = rows >= self.group
        return Mux(whole, self.group - 1, rows - 1), Mux(whole, rows - self.group, 0)
