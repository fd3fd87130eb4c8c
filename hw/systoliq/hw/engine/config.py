"""Configuration of an engine: how much hardware it has, and how many cycles a job takes on it."""

from __future__ import annotations

import dataclasses

from systoliq.golden.formats import INT8

from ..array import SystolicArray
from ..cells import CELLS
from ..config import ArrayConfig

__all__ = ["DATAFLOWS", "EngineConfig", "JobShape"]

DATAFLOWS = ("output-stationary", "weight-stationary")


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """A ``rows`` x ``cols`` array of ``depth`` int8 multipliers an element, with operand buffers and ``lanes``.

    ``a_words`` and ``b_words`` are the depths of the operand buffers, in words of ``rows * depth`` elements of A and
    ``cols * depth`` of B; powers of two. The buffer of A must hold one group of rows (ceil(K / depth) words), that of B
    all of a job's B (that times ceil(N / cols)). ``lanes`` (a divisor of ``cols``) drain ``lanes`` results a cycle.
    ``max_columns`` (N of a job) and ``max_rows`` (M of a job with a zero point per row) size the constant tables.

    ``dataflow`` "output-stationary" keeps sums in the array. "weight-stationary" keeps weights there: every row of A
    costs one cycle, none is padded to a group, and B is read once; then the buffer of A must hold all of a job's A (M
    * ceil(K / (rows * depth)) words) where N > cols, M is at most ``max_rows``, and B's buffer may be small.

    ``cells`` names the cells that multiply: those of `ArrayConfig`.
    """

    rows: int = 4
    cols: int = 4
    depth: int = 1
    lanes: int = 4
    a_words: int = 256
    b_words: int = 1024
    max_columns: int = 256
    max_rows: int = 256
    dataflow: str = "output-stationary"
    cells: str = "portable"

    def __post_init__(self) -> None:
        if self.cells not in CELLS:
            raise ValueError(f"cells must be one of {', '.join(CELLS)}, not {self.cells!r}")
        if self.dataflow not in DATAFLOWS:
            raise ValueError(f"dataflow must be one of {', '.join(DATAFLOWS)}, not {self.dataflow!r}")
        for field in dataclasses.fields(self):
            if field.name in ("dataflow", "cells"):
                continue
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{field.name} must be a positive integer, not {value!r}")
            if value < 1:
                raise ValueError(f"{field.name} must be a positive integer, not {value!r}")
        for name, least in (("a_words", 4), ("b_words", 4), ("max_columns", 2), ("max_rows", 2)):
            value = getattr(self, name)
            if value & (value - 1) or not least <= value <= 1 << 16:
                raise ValueError(f"{name} must be a power of two from {least} to 65536, not {value!r}")
        entries = self.table_words << (self.lanes - 1).bit_length()
        if entries > 1 << 16:
            raise ValueError(
                f"max_columns must leave the column table at most 65536 entries, but {self.max_columns} with "
                f"{self.lanes} lanes makes {entries}"
            )
        if self.cols % self.lanes:
            raise ValueError(f"lanes must divide cols = {self.cols}, not {self.lanes!r}")
        for name in ("rows", "cols", "depth"):
            if getattr(self, name) > 256:
                raise ValueError(f"{name} must be at most 256, not {getattr(self, name)!r}")

    def replace(self, **changes: object) -> EngineConfig:
        """A copy with ``changes`` made, validated again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def interval(self) -> int:
        """Columns served by one lane."""
        return self.cols // self.lanes

    @property
    def drain_cycles(self) -> int:
        """Cycles between two tiles at the least: a slot for the column sums, one for each row. See `SystolicArray`."""
        return SystolicArray.drain_cycles_of(self.array, self.interval, broadcast=not self.pipelined)

    @property
    def array(self) -> ArrayConfig:
        """The array with its row and column of ones, which give the column sums of B and the row sums of A."""
        return ArrayConfig(rows=self.rows + 1, cols=self.cols + 1, depth=self.depth, a=INT8, b=INT8, cells=self.cells)

    @property
    def zero_point_cells(self) -> str:
        """The cells that multiply by zero points: iCE40's few are left to the array and the requantizers."""
        return "portable" if self.cells == "ice40" else self.cells

    @property
    def pipelined(self) -> bool:
        """Whether there are registers for a fast clock: a small iCE40 has logic cells for those of 24 MHz."""
        return self.cells != "ice40"

    @property
    def one_product(self) -> bool:
        """Whether a lane has one multiplier for both zero points: with one row to a tile, it is used in turns."""
        return not self.pipelined and self.rows == 1 and self.dataflow == "output-stationary"

    @property
    def table_words(self) -> int:
        """Entries of one lane's constant table (a power of two)."""
        return max(2, 1 << (_ceil_div(self.max_columns, self.lanes) - 1).bit_length())


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobShape:
    """A [m, k] x [k, n] product on an engine: its tiles, words and cycles."""

    m: int
    k: int
    n: int
    config: EngineConfig

    @property
    def beats(self) -> int:
        """Beats of a tile."""
        return _ceil_div(self.k, self.config.depth)

    @property
    def groups(self) -> int:
        """Groups of rows of A."""
        return _ceil_div(self.m, self.config.rows)

    @property
    def column_tiles(self) -> int:
        """Tiles of columns of B."""
        return _ceil_div(self.n, self.config.cols)

    @property
    def stationary_weights(self) -> bool:
        """Whether the engine's dataflow is weight-stationary."""
        return self.config.dataflow == "weight-stationary"

    @property
    def chunks(self) -> int:
        """Loads of the array with weights for one column tile (weight-stationary)."""
        return _ceil_div(self.k, self.config.rows * self.config.depth)

    @property
    def a_words(self) -> int:
        """Words in the stream of A: group after group, or chunk of K after chunk of K."""
        return self.m * self.chunks if self.stationary_weights else self.groups * self.beats

    @property
    def b_words(self) -> int:
        """Words in the stream of B: column tile after column tile."""
        return self.column_tiles * self.beats

    @property
    def macs(self) -> int:
        """Useful multiply-accumulates."""
        return self.m * self.k * self.n

    @property
    def tile_cycles(self) -> int:
        """Cycles from one tile to the next."""
        return max(self.beats, self.config.drain_cycles)

    @property
    def edge_limit(self) -> float:
        """The utilization that ragged edges alone allow: useful share of the tiles' multiply-accumulates."""
        config = self.config
        padded_m = self.m if self.stationary_weights else self.groups * config.rows
        padded_k = (self.chunks * config.rows if self.stationary_weights else self.beats) * config.depth
        return self.macs / (padded_m * padded_k * self.column_tiles * config.cols)
