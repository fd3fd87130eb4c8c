"""What a dense layer is tried with: golden inputs, their expected outputs, and both as beats of its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer

from ..beats import SEED, Beat, operand_beats, random_operands, spans

if TYPE_CHECKING:
    from .design import LayerDesign

__all__ = ["LayerStimulus", "YBeat", "layer_stimulus"]

_BEATS = 1500  # of a stimulus, about: a second or two of simulation under Icarus


@dataclass(frozen=True, kw_only=True)
class YBeat:
    """One beat of Y: the outputs at `row`, `column`..; none of them where the row only fills up a group."""

    row: int
    column: int
    values: tuple[int, ...]
    last: bool


@dataclass(frozen=True, kw_only=True)
class LayerStimulus:
    """Batches of rows for a layer, as matrices (all rows one below the other) and as beats.

    `y` is the float32 formula's answer; `expected` the hardware's, which is the same unless an inexact requantizer was
    asked for. `cycles` is what the cycle model says from the first beat to the last without stalls.
    """

    batches: tuple[int, ...]
    a: npt.NDArray[Any]
    y: npt.NDArray[Any]
    expected: npt.NDArray[Any]
    a_beats: tuple[Beat, ...]
    y_beats: tuple[YBeat, ...]
    cycles: int

    @property
    def float32_mismatches(self) -> int:
        """Outputs in which the hardware's own arithmetic differs from the float32 formula."""
        return int(np.count_nonzero(self.y != self.expected))


def layer_stimulus(design: LayerDesign) -> LayerStimulus:
    """Three batches, back to back: one row, two groups less a row, and the rest; extremes first, then random rows."""
    schedule, layer = design.dense.schedule, design.layer
    rows = schedule.config.rows
    groups = min(max(_BEATS // (schedule.beats * schedule.column_tiles), 5), 24)
    batches = (1, max(2 * rows - 1, 2), (groups - 3) * rows)
    generator = np.random.default_rng(SEED)
    a = _rows(layer, sum(batches), generator)
    y, expected = layer.golden(a), design.model(a)
    a_beats: list[Beat] = []
    y_beats: list[YBeat] = []
    for start, stop in spans(batches):
        a_beats += _a_beats(design, a[start:stop], generator)
        y_beats += _y_beats(design, expected[start:stop], start)
    return LayerStimulus(
        batches=batches,
        a=a,
        y=y,
        expected=expected,
        a_beats=tuple(a_beats),
        y_beats=tuple(y_beats),
        cycles=design.dense.cycles(sum(schedule.groups(m) for m in batches) * rows),
    )


def _rows(layer: MatMulLayer, m: int, generator: np.random.Generator) -> npt.NDArray[Any]:
    """`m` rows of A: those that reach the ends of a column's sums, constant ones, and random ones of every swing."""
    a_format, k = layer.a_format, layer.k
    positive = layer.centered_b[:, 0] > 0
    special = [
        np.where(positive, a_format.max, a_format.min),
        np.where(positive, a_format.min, a_format.max),
        np.full(k, a_format.min),
        np.full(k, a_format.max),
        np.full(k, layer.a_zero_point),
    ]
    swing = (a_format.max - a_format.min) * 0.5 ** generator.integers(1, 7, (m, 1))
    a = np.rint(generator.uniform(-1, 1, (m, k)) * swing) + layer.a_zero_point
    for row, values in zip(range(0, m, 2), special, strict=False):
        a[row] = values
    return a_format.saturate(a)


def _a_beats(design: LayerDesign, a: npt.NDArray[Any], generator: np.random.Generator) -> list[Beat]:
    """One batch of rows, filled up to whole groups with anything: what is beyond M and K must not matter."""
    schedule = design.dense.schedule
    rows, depth = schedule.config.rows, schedule.config.depth
    m, k = a.shape
    filled = random_operands(design.layer.a_format, (schedule.groups(m) * rows, schedule.beats * depth), generator)
    filled[:m, :k] = a
    beats = [
        beat
        for group in np.split(filled, schedule.groups(m))
        for beat in operand_beats(group, design.layer.a_format, depth)
    ]
    ends = len(beats) - 1
    return [Beat(word=beat.word, last=i == ends) for i, beat in enumerate(beats)]


def _y_beats(design: LayerDesign, y: npt.NDArray[Any], first_row: int) -> list[YBeat]:
    schedule = design.dense.schedule
    rows, cols, lanes = schedule.config.rows, schedule.config.cols, schedule.lanes
    m = y.shape[0]
    beats = []
    for row in range(0, schedule.groups(m) * rows, rows):
        for tile in range(schedule.column_tiles):
            for r in range(row, row + rows):
                for step in range(schedule.steps(tile)):
                    column = tile * cols + step * lanes
                    end = min(column + lanes, (tile + 1) * cols, schedule.n)
                    values = tuple(y[r, column:end].tolist()) if r < m else ()
                    beats.append(YBeat(row=first_row + r, column=column, values=values, last=False))
    beats[-1] = YBeat(row=beats[-1].row, column=beats[-1].column, values=beats[-1].values, last=True)
    return beats
