"""Configuration of an engine: how much hardware it has, and how many cycles a job takes on it."""

from __future__ import annotations

import dataclasses

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.formats import INT8

from ..cells import CELLS, family
from ..config import ArrayConfig

__all__ = ["DATAFLOWS", "LARGEST", "ROW_LENGTHS", "EngineConfig", "JobShape"]

DATAFLOWS = ("output-stationary", "weight-stationary")
LARGEST = 65535
"""M, K and N of a job at the most: registers of 16 bits."""
ROW_LENGTHS = (16, 4096)
"""The least and the greatest `EngineConfig.row_length`, other than 0."""
_FORMATS = ("a", "b", "y")


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """Engine with a ``rows`` x ``cols`` array of ``depth`` multipliers per element, operand buffers and ``lanes``.

    ``a_words`` and ``b_words`` are the depths of the operand buffers, in words of ``rows * depth`` elements of A and
    ``cols * depth`` of B; powers of two. The buffer of A must hold one group of rows (ceil(K / depth) words), and the
    buffer of B all of a job's B (ceil(K / depth) * ceil(N / cols) words). ``lanes``, a divisor of ``cols``, is the
    number of results per cycle. ``max_columns`` (N of a job) and ``max_rows`` (M of a job with a zero point per row)
    size the constant tables.

    ``dataflow`` "output-stationary" keeps sums in the array. "weight-stationary" keeps weights in the array: every row
    of A takes one cycle without padding to a group, and B is read once. If N > cols, the buffer of A must then hold all
    of a job's A (M * ceil(K / (rows * depth)) words). M is at most ``max_rows``, and B's buffer may be small.

    ``cells`` names the cells that multiply, as in `ArrayConfig`.

    ``a``, ``b`` and ``y`` are the formats of a float8 engine, which is output-stationary and has no row table; its
    accumulators hold the exact sum for any K up to `LARGEST`. By default, each job selects int8 or uint8 operands, and
    int8, uint8 or int32 for Y.

    ``vector`` gives a DMA engine of integers a vector unit: see `systoliq.hw.dma.vector_unit.VectorUnit`. With
    ``row_length``, a power of two, it has a part for softmax and layer normalization of rows of at most this length; 0
    leaves it out.
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
    a: Float8Format | None = None
    b: Float8Format | None = None
    y: Float8Format | None = None
    vector: bool = False
    row_length: int = 0

    def __post_init__(self) -> None:
        self._check_formats()
        for name in ("cells", "dataflow"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a str, not {getattr(self, name)!r}")
        if self.cells not in CELLS:
            raise ValueError(f"cells must be one of {', '.join(CELLS)}, not {self.cells!r}")
        if self.dataflow not in DATAFLOWS:
            raise ValueError(f"dataflow must be one of {', '.join(DATAFLOWS)}, not {self.dataflow!r}")
        for field in dataclasses.fields(self):
            if field.name in ("dataflow", "cells", "vector", "row_length", *_FORMATS):
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

    def _check_formats(self) -> None:
        """Check that all formats are float8, on a dataflow that supports them, or that none is given."""
        given = {name: form for name in _FORMATS if (form := getattr(self, name)) is not None}
        for name, form in given.items():
            if not isinstance(form, Float8Format):
                raise TypeError(f"{name} must be a Float8Format, or None for integers, not {form!r}")
        missing = [name for name in _FORMATS if name not in given]
        if given and missing:
            raise ValueError(f"{missing[0]} must be float8 as {next(iter(given))} is: a, b and y are, or none of them")
        if given and self.dataflow != "output-stationary":
            raise ValueError(f"dataflow must be output-stationary for float8, not {self.dataflow!r}")
        if not isinstance(self.vector, bool):
            raise TypeError(f"vector must be a bool, not {self.vector!r}")
        if given and self.vector:
            raise ValueError("vector must be False for float8: the vector unit computes bytes of integers")
        self._check_row_length()

    def _check_row_length(self) -> None:
        """Check that rows have a length that the unit can have, where there is one."""
        length, (least, most) = self.row_length, ROW_LENGTHS
        if not isinstance(length, int) or isinstance(length, bool):
            raise TypeError(f"row_length must be an integer, not {length!r}")
        if length and (length & (length - 1) or not least <= length <= most):
            raise ValueError(f"row_length must be 0 or a power of two from {least} to {most}, not {length!r}")
        if length and not self.vector:
            raise ValueError(f"vector must be True for a row_length of {length}: rows are the vector unit's")

    def replace(self, **changes: object) -> EngineConfig:
        """Return a copy with ``changes``, validated again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def of_streams(self) -> EngineConfig:
        """The engine without what only masters feed."""
        return self.replace(vector=False, row_length=0)

    @property
    def interval(self) -> int:
        """Columns served by one lane."""
        return self.cols // self.lanes

    @property
    def float8(self) -> tuple[Float8Format, Float8Format, Float8Format] | None:
        """The formats of A, B and Y where they are float8; None where they are integers."""
        return None if self.a is None or self.b is None or self.y is None else (self.a, self.b, self.y)

    @property
    def float8_formats(self) -> tuple[Float8Format, Float8Format, Float8Format]:
        """`float8`, or a ValueError where they are integers."""
        if self.float8 is None:
            raise ValueError("a, b and y must be float8, which they are not on an engine of integers")
        return self.float8

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates of the array per cycle, without the row and column of ones."""
        return self.rows * self.cols * self.depth

    @property
    def ones(self) -> int:
        """Rows, and columns, of ones in the array: one where zero points need the sums of operands."""
        return int(self.float8 is None)

    @property
    def first_slot(self) -> int:
        """Cycles of a tile's drain before its rows: the slot of the column sums, or one cycle for float8."""
        return self.interval if self.ones else 1

    @property
    def drain_cycles(self) -> int:
        """Cycles between two tiles at the least: the first slot, and one for each row. See `SystolicArray`."""
        from ..array import SystolicArray  # with Amaranth, which a configuration by itself does not need

        drained = SystolicArray.drain_cycles_of(self.array, self.interval, broadcast=not self.pipelined)
        return max(drained, self.first_slot + self.rows * self.interval)

    @property
    def array(self) -> ArrayConfig:
        """The array; for integers with one more row and column of ones, for the column sums of B and row sums of A."""
        array = ArrayConfig(rows=self.rows + self.ones, cols=self.cols + self.ones, depth=self.depth, cells=self.cells)
        if not self.float8:
            return array.replace(a=INT8, b=INT8)
        a, b, _ = self.float8
        return array.replace(a=a, b=b, accumulator_bits=sum_bits(a, b, LARGEST))

    @property
    def zero_point_cells(self) -> str:
        """The cells that multiply by zero points. The multipliers of iCE40 and ECP5 are few, and are left to the array
        and the requantizers.
        """
        return {"ice40": "portable", "ecp5": "ecp5-lut"}.get(family(self.cells), self.cells)

    @property
    def pipelined(self) -> bool:
        """True if there are pipeline registers for a fast clock; a small iCE40 has logic cells for 24 MHz only."""
        return self.cells != "ice40"

    @property
    def one_product(self) -> bool:
        """True if a lane has one multiplier for both zero points, which alternate: with one row per tile."""
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
        """True if the engine's dataflow is weight-stationary."""
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
