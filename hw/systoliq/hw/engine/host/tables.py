"""Tables of a job: the words of its columns and rows, and where they go in the engine's rings of entries."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import INT8, Requantization
from systoliq.golden.float8_requantization import Float8Requantization

from ...float8_requantizer import exponents_of
from ..axi_engine import lane_slots
from ..config import EngineConfig
from ..registers import Table
from .job import AnyJob, Float8Job

__all__ = ["Entries", "TableWords", "column_constants", "column_words", "row_words"]

MULTIPLIER_BITS = 24
ZERO_SHIFT = 14  # the least that the hardware takes; the shift of a multiplier 0 does not matter


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entries:
    """First entries of a job: N.first_entry and M.first_entry."""

    column: int = 0
    row: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TableWords:
    """A job's part of a `table`: `words` [entries, slots, words of a slot]; each entry uses `used` slots, the last one
    `last`. The table has `size` entries.
    """

    table: Table
    words: npt.NDArray[Any]
    used: int
    last: int
    size: int
    text: str

    def __len__(self) -> int:
        return len(self.words)

    @property
    def content(self) -> tuple[bytes, int]:
        """The contents of the entries: jobs with equal contents can share them."""
        return self.words.tobytes(), self.last

    def stretches(self, first: int) -> Iterator[tuple[int, bytes]]:
        """(address, bytes) of stretches without gaps, from entry `first` on; entry 0 follows the last entry."""
        entries, slots, _ = self.words.shape
        stride = slots * self.table.stride
        begin = 0
        while begin < entries:
            at = (first + begin) % self.size
            count = min(entries - begin, self.size - at) if self.used == slots else 1
            used = self.last if begin + count == entries else self.used
            words = self.words[begin : begin + count].reshape(count * slots, -1)[: (count - 1) * slots + used]
            yield self.table.base + at * stride, words.tobytes()
            begin += count


def row_words(job: AnyJob, config: EngineConfig, table: Table | None) -> TableWords | None:
    """The job's entries of the row table, where its zero points are per row."""
    if table is None or isinstance(job, Float8Job) or len(job.a_zero_point) == 1:
        return None
    a_offset = 128 if job.a.dtype == np.uint8 else 0
    values = (job.a_zero_point[: config.max_rows].astype(np.int64) - a_offset) & 0xFF
    words = np.zeros((len(values), 1, table.stride // 4), "<u4")
    words[:, 0, table.words[0].offset // 4] = values
    text = "zero point of each row of A"
    return TableWords(table=table, words=words, used=1, last=1, size=config.max_rows, text=text)


def column_words(job: AnyJob, config: EngineConfig, table: Table) -> TableWords:
    """The job's entries of the column table. Entries that do not fit are left out, since the engine will refuse the
    job.
    """
    columns = min(job.n, config.table_words * config.lanes)
    entries, slots = -(-columns // config.lanes), lane_slots(config)
    words = np.zeros((entries * slots, table.stride // 4), "<u4")
    n = np.arange(columns)
    at = n // config.lanes * slots + n % config.lanes
    values = _column_values(job, config)
    for register in table.words:
        field = register.fields[0]
        words[at, register.offset // 4] = (values[register.name][:columns] << field.lsb) & field.mask
    *names, last = (register.name.lower().replace("_", " ") for register in table.words)
    return TableWords(
        table=table,
        words=words.reshape(entries, slots, -1),
        used=config.lanes,
        last=(columns - 1) % config.lanes + 1,
        size=config.table_words,
        text=f"{', '.join(names)} and {last} of each column of B; once for all jobs that share them",
    )


def column_constants(scale: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Multipliers of 24 bits, the top one set (or 0), and shifts: scale = multiplier / 2^shift.

    Scales that leave every accumulator at zero give 0, those that saturate all give 2^8: the shift is 14 to 55.
    """
    distinct, where = np.unique(scale, return_inverse=True)
    constants = Requantization.from_scales(distinct, 0, INT8)
    multipliers, shifts = np.array(constants.multiplier, np.int64), np.array(constants.shift, np.int64)
    for index, multiplier in enumerate(constants.multiplier):
        missing = MULTIPLIER_BITS - multiplier.bit_length()
        multipliers[index] <<= missing if multiplier else 0
        shifts[index] = shifts[index] + missing if multiplier else ZERO_SHIFT
    return multipliers[where.reshape(-1)], shifts[where.reshape(-1)]


def _column_values(job: AnyJob, config: EngineConfig) -> dict[str, npt.NDArray[Any]]:
    """Word of the column table -> its values [n]."""
    if isinstance(job, Float8Job):
        _, _, output = config.float8_formats
        constants = Float8Requantization.from_scales(job.scale, output)
        exponents = exponents_of(constants, config.array)
        return {"MULTIPLIER": np.array(constants.multiplier), "EXPONENT": np.array(exponents)}
    multipliers, shifts = column_constants(np.zeros(job.n, np.float32) if job.scale is None else job.scale)
    return {
        "BIAS": job.bias.astype(np.int64),
        "MULTIPLIER": multipliers,
        "SHIFT": shifts,
        "ZERO_POINT": job.b_zero_point.astype(np.int64) - (128 if job.b.dtype == np.uint8 else 0),
    }
