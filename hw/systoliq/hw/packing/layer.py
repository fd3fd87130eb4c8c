"""The words of a dense layer: rows of A in groups, and Y as it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import Float8Format, IntFormat
from systoliq.golden.words import Flags, Integers, Words, bytes_of, from_words, pads, to_words

from ..dense import Dense

__all__ = ["LayerPacking"]


class LayerPacking:
    """Beats of a `Dense` layer for batches of rows of A, one after the other.

    `batches` holds the number of rows of each batch; a batch begins with a new group.
    """

    def __init__(self, dense: Dense, batches: Sequence[int]) -> None:
        self.dense = dense
        self.batches = tuple(batches)
        rows = dense.config.rows
        groups = [dense.schedule.groups(count) for count in self.batches]
        self.groups = sum(groups)
        # For row r of group g, [groups * rows]: the row of A (counted on for padding), and whether it is a row of A.
        self._rows = np.zeros(self.groups * rows, np.int64)
        self._real = np.zeros(self.groups * rows, bool)
        start = row = 0
        for count, used in zip(self.batches, groups, strict=True):
            end = start + used * rows
            self._rows[start:end] = np.arange(row, row + end - start)
            self._real[start : start + count] = True
            start, row = end, row + count
        self._last_groups = np.cumsum(groups) - 1

    @staticmethod
    def facts(dense: Dense) -> dict[str, Any]:
        """The packing in words, ready for JSON."""
        config, schedule, output = dense.config, dense.schedule, dense.requantization.output
        bits = dense.layer.a_format.bits
        return {
            "a": {
                "element_bits": bits,
                "elements_per_beat": config.rows * config.depth,
                "beats_per_group": schedule.beats,
                "layout": f"rows enter in groups of {config.rows}. Beat t of a group carries, for each row r of it, "
                f"a[r, t * {config.depth} + i] for i = 0..{config.depth - 1} at bits "
                f"(r * {config.depth} + i) * {bits} and up; elements beyond K are ignored, and a batch whose "
                "rows do not fill its last group is filled up with rows of anything, whose outputs are to be dropped",
            },
            **({"a_zero_point": _zero_point_facts(config.rows, bits)} if dense.zero_point_bits else {}),
            "y": {
                "element_bits": output.bits,
                "elements_per_beat": schedule.lanes,
                "beats_per_group": config.rows * schedule.beats_per_row,
                "layout": f"for each group, for each tile of {config.cols} columns, for each row: neighbouring "
                f"columns, {schedule.lanes} a beat, the first in the lowest bits; those beyond N mean nothing",
            },
            "padding": f"{'tdata and tuser are' if dense.zero_point_bits else 'tdata is'} filled up with zeros to "
            "whole bytes",
        }

    @property
    def a_bytes(self) -> int:
        """Bytes of the operands in a word of A: tdata."""
        config = self.dense.config
        return bytes_of(config.rows * config.depth * self.dense.layer.a_format.bits)

    @property
    def user_bytes(self) -> int:
        """Bytes of the zero points in a word of A, above its operands: tuser."""
        return bytes_of(self.dense.zero_point_bits)

    @property
    def y_bytes(self) -> int:
        """Bytes of a word of Y."""
        return bytes_of(self.dense.schedule.lanes * self._output.bits)

    @property
    def _output(self) -> IntFormat | Float8Format:
        return self.dense.requantization.output

    def pack(
        self, a: npt.NDArray[np.integer], generator: np.random.Generator, a_zero_point: Integers | None = None
    ) -> tuple[Words, Flags]:
        """Words of A [M, K], and which of them end a batch; `generator` fills the elements beyond A.

        `a_zero_point` [M, 1], for layers that take zero points, is in the bits above the operands.
        """
        config, schedule, fmt = self.dense.config, self.dense.schedule, self.dense.layer.a_format
        shape = (self.groups * config.rows, schedule.beats * config.depth)
        padded = pads(fmt, shape, generator)
        padded[self._real, : schedule.k] = a
        beats = padded.reshape(self.groups, config.rows, schedule.beats, config.depth).transpose(0, 2, 1, 3)
        last = np.zeros((self.groups, schedule.beats), bool)
        last[self._last_groups, -1] = True
        words = to_words(beats.reshape(-1, config.rows * config.depth), fmt.bits, self.a_bytes)
        if a_zero_point is not None:
            of_rows = pads(fmt, (len(padded), 1), generator)
            of_rows[self._real] = a_zero_point
            of_groups = to_words(of_rows.reshape(-1, config.rows), fmt.bits, self.user_bytes)
            words = np.concatenate([words, np.repeat(of_groups, schedule.beats, axis=0)], axis=1)
        return words, last.reshape(-1)

    def y_beats(self) -> tuple[Integers, Integers, Integers]:
        """Row and first column of Y of each beat, and the number of its columns that are valid; [beats] each.

        Rows that only fill up a group have no valid columns; they are numbered on from the rows before.
        """
        config, schedule = self.dense.config, self.dense.schedule
        row_in_group, column = [], []
        for tile in range(schedule.column_tiles):
            for row in range(config.rows):
                for step in range(schedule.row_beats(tile)):
                    row_in_group.append(row)
                    column.append(tile * config.cols + step * schedule.lanes)
        at = (np.arange(self.groups)[:, None] * config.rows + np.array(row_in_group)).reshape(-1)
        columns = np.tile(np.array(column, np.int64), self.groups)
        return self._rows[at], columns, np.where(self._real[at], np.minimum(schedule.lanes, schedule.n - columns), 0)

    def places(self) -> tuple[Integers, Integers]:
        """Row and column of Y of each element of each beat, -1 where it means nothing: two arrays [beats, lanes]."""
        row, column, count = (each[:, None] for each in self.y_beats())
        lane = np.arange(self.dense.schedule.lanes)
        return np.where(lane < count, row, -1), np.where(lane < count, column + lane, -1)

    def y_last(self) -> Flags:
        """Flags of the beats of Y that end a batch."""
        per_group = self.dense.config.rows * self.dense.schedule.beats_per_row
        last = np.zeros((self.groups, per_group), bool)
        last[self._last_groups, -1] = True
        return last.reshape(-1)

    def expect(self, y: npt.NDArray[np.integer]) -> tuple[Words, Words]:
        """Words of Y [M, N], and masks with ones where a word means something."""
        rows, columns = self.places()
        meant = rows >= 0
        values = np.where(meant, y[rows, columns].astype(np.int64), 0)
        masks = np.where(meant, -1, 0)
        return to_words(values, self._output.bits, self.y_bytes), to_words(masks, self._output.bits, self.y_bytes)

    def unpack(self, words: Words) -> tuple[npt.NDArray[np.integer], Flags]:
        """Y [M, N] in the output's type, and which of it the words held; words may be missing at the end."""
        rows, columns = self.places()
        count = min(len(words), len(rows))
        values = from_words(words[:count], self._output.bits, self.dense.schedule.lanes, signed=self._output.signed)
        y = np.zeros((sum(self.batches), self.dense.schedule.n), self._output.dtype)
        there = np.zeros(y.shape, bool)
        meant = rows[:count] >= 0
        index = rows[:count][meant], columns[:count][meant]
        y[index] = values[meant]
        there[index] = True
        return y, there


def _zero_point_facts(rows: int, bits: int) -> dict[str, Any]:
    return {
        "element_bits": bits,
        "elements_per_beat": rows,
        "layout": f"s_axis_a_tuser: the zero point of row r of the group at bits r * {bits} and up, the same in all "
        "beats of a group",
    }
