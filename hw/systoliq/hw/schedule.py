"""The schedule of a dense layer: tiles, drain lanes and the cycle model, in closed form."""

from __future__ import annotations

import dataclasses

from .config import ArrayConfig

__all__ = ["Schedule"]


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Schedule:
    """Schedule of a [M, K] x [K, N] product on an array.

    Rows of A are taken ``rows`` at a time (a group). For each group the array runs ``column_tiles`` tiles of ``beats``
    beats. The sums of a tile drain through ``lanes`` lanes, each of which serves ``interval`` neighbouring columns, one
    sum every ``pace`` cycles. Only arrays of one row keep their sums for longer than a cycle.
    """

    k: int
    n: int
    config: ArrayConfig
    pace: int = 1

    @property
    def beats(self) -> int:
        """Beats of one tile: ``depth`` elements of K each."""
        return _ceil_div(self.k, self.config.depth)

    @property
    def column_tiles(self) -> int:
        """Tiles of columns of B: the last may be ragged."""
        return _ceil_div(self.n, self.config.cols)

    @property
    def lanes(self) -> int:
        """The fewest lanes (a divisor of ``cols``) that drain a tile while the next one runs."""
        rows, cols = self.config.rows, self.config.cols
        for lanes in range(1, cols):
            if cols % lanes == 0 and rows * (cols // lanes) <= self.beats:
                return lanes
        return cols

    @property
    def interval(self) -> int:
        """Columns served by one lane: cycles between the sums of two neighbouring rows."""
        return self.config.cols // self.lanes

    @property
    def drain_steps(self) -> int:
        """Sums of one tile that a lane serves."""
        return self.config.rows * self.interval

    @property
    def drain_cycles(self) -> int:
        """Cycles for which a lane is busy with one tile."""
        return self.drain_steps * self.pace

    @property
    def spare_pace(self) -> int:
        """The slowest ``pace`` at which a tile drains while the next one runs."""
        return max(self.beats // self.drain_steps, 1) if self.config.rows == 1 else 1

    @property
    def tile_cycles(self) -> int:
        """Cycles from one tile to the next at full rate."""
        return max(self.beats, self.drain_cycles)

    def logical_column(self, physical: int) -> int:
        """Column of a tile that the array's column ``physical`` computes.

        Lane l serves the array's columns ``l * interval .. (l + 1) * interval - 1``; columns are permuted so that the
        lanes deliver neighbouring columns of Y in one cycle.
        """
        lane, step = divmod(physical, self.interval)
        return step * self.lanes + lane

    def row_beats(self, column_tile: int) -> int:
        """Output beats per row in ``column_tile``: the last tile may be ragged."""
        columns = min(self.config.cols, self.n - column_tile * self.config.cols)
        return _ceil_div(columns, self.lanes)

    @property
    def beats_per_row(self) -> int:
        """Output beats per row of Y."""
        return sum(self.row_beats(tile) for tile in range(self.column_tiles))

    def groups(self, m: int) -> int:
        """Groups that ``m`` rows of A make."""
        return _ceil_div(m, self.config.rows)

    def utilization(self, m: int, cycles: int) -> float:
        """Useful multiply-accumulates per multiply-accumulate that the array could do in ``cycles``."""
        return m * self.k * self.n / (self.config.macs_per_cycle * cycles)
