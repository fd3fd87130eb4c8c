"""Stimulus of a dense layer: golden inputs, their expected outputs, and both as beats of its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.hw.packing import LayerPacking, to_integers

from ...design.layer.design import LayerDesign
from ...design.once import once
from ..beats import SEED, Beat, beats_of, random_operands
from .float8_rows import float8_rows, float8_sums
from .float8_ties import float8_ties
from .steering import steered_rows

__all__ = ["LayerStimulus", "YBeat", "layer_stimulus"]

_SIGN = 0x80
_BEATS = 1500  # of a stimulus, about, and of its
_STEERED_BEATS = 16_000  # steered rows: some seconds of simulation under Icarus
_FLOAT8_ROWS = 800
_WAY_OUT = 4  # beats of results that have left the buffer, and one more
_WHOLE = 0.3  # share of random rows whose values span A's format


@dataclass(frozen=True, kw_only=True)
class YBeat:
    """One beat of Y: `count` outputs at `row`, `column`..; none of them where the row only fills up a group."""

    row: int
    column: int
    count: int
    word: int
    last: bool


@dataclass(frozen=True, kw_only=True)
class LayerStimulus:
    """Batches of rows for a layer, as matrices (all rows one below the other) and as beats.

    `y` is golden's answer, for integers alone the float32 formula's; `expected` the hardware's, the same unless an
    inexact requantizer was asked for. `cycles` are the cycle model's, from the first beat to the last without stalls.
    `a_zero_point` [M, 1] comes with `a` where the layer has none of its own. The first `few_a_beats` and `few_y_beats`
    belong to all batches but the last. `held`: after how many results a receiver shall stop, and how many beats of A
    are taken then; `late`: how many of the few shall be left when it stops near their end.
    """

    batches: tuple[int, ...]
    a: npt.NDArray[Any]
    a_zero_point: npt.NDArray[Any] | None
    y: npt.NDArray[Any]
    expected: npt.NDArray[Any]
    a_beats: tuple[Beat, ...]
    y_beats: tuple[YBeat, ...]
    held: dict[int, int]
    late: tuple[int, ...]
    few_a_beats: int
    few_y_beats: int
    cycles: int

    @property
    def float32_mismatches(self) -> int:
        """Outputs in which the hardware's own arithmetic differs from golden's answer."""
        return int(np.count_nonzero(self.y != self.expected))


@once
def layer_stimulus(design: LayerDesign) -> LayerStimulus:
    """Batches, back to back: one steered row, two groups less a row, the rest of extremes and random rows, and steered
    rows, with more of those where they are few.
    """
    schedule, layer = design.dense.schedule, design.layer
    rows, group_beats = schedule.config.rows, schedule.beats * schedule.column_tiles
    held = _held(design)
    # more than are taken while the receiver stops
    groups = max(min(max(_BEATS // group_beats, 5), 24), max(held.values()) // schedule.beats + 4)
    held = dict(sorted((held | _held_late(design, groups - 1)).items()))  # one stop after the other
    batches = [1, max(2 * rows - 1, 2), (groups - 3) * rows]
    generator = np.random.default_rng(SEED)
    a = _rows(layer, sum(batches), generator)
    more = max(_STEERED_BEATS // group_beats, 2) * rows
    if isinstance(layer.a_format, Float8Format):
        sums = float8_sums(layer, min(more // 2, _FLOAT8_ROWS), generator)
        steered = np.concatenate([sums, float8_ties(layer, more - len(sums), generator)])
    else:
        steered = steered_rows(layer, design.requantization, more, generator)
        a = np.concatenate([steered[:1], a])[: len(a)]  # after a reset, an output shows the rest of a sum
    few = LayerPacking(design.dense, tuple(batches))
    if len(steered):
        others = [_rows(layer, more - len(steered), generator)] if more > len(steered) else []
        a = np.concatenate([a, steered, *others]).view(layer.a_format.dtype)  # concatenation loses a float8 dtype
        batches.append(more)
    zero_points = _zero_points(layer, len(a), generator)
    y, expected = layer.golden(a, zero_points), design.model(a, zero_points)
    packing = LayerPacking(design.dense, tuple(batches))
    return LayerStimulus(
        batches=tuple(batches),
        a=a,
        a_zero_point=zero_points,
        y=y,
        expected=expected,
        a_beats=beats_of(*packing.pack(a, generator, zero_points)),  # elements beyond M and K must not matter
        y_beats=_y_beats(packing, expected),
        held=held,
        late=_late(design, few.groups),
        few_a_beats=few.groups * schedule.beats,
        few_y_beats=few.groups * rows * schedule.beats_per_row,
        cycles=design.dense.cycles(packing.groups * rows),
    )


def _held(design: LayerDesign) -> dict[int, int]:
    """Results after which one tile less, or more, would be seen in the beats of A that are taken; and these beats."""
    dense, repeats = design.dense, design.dense.schedule.column_tiles
    first = next(tiles for tiles in range(1, repeats + 2) if dense.held_beats(tiles) > dense.held_beats(tiles - 1))
    return {_results(design, tiles): dense.held_beats(tiles) for tiles in (first, first + repeats - 1)}


def _held_late(design: LayerDesign, groups: int) -> dict[int, int]:
    """The same in the middle and at the end of `groups`, where errors of counts in a stall become visible."""
    dense, schedule = design.dense, design.dense.schedule
    least, most = (
        max(
            tiles
            for tiles in range(of * schedule.column_tiles)
            if not tiles or dense.held_beats(tiles) <= of * schedule.beats
        )
        for of in (groups // 2, groups)
    )
    return {_results(design, tiles): dense.held_beats(tiles) for tiles in (least, most) if tiles}


def _late(design: LayerDesign, groups: int) -> tuple[int, ...]:
    """Beats left of `groups` when one of the last waits at each place of the way out, and when the result buffer has
    room for none of the last tiles, for the last but two, ...
    """
    tiles = groups * design.dense.schedule.column_tiles
    booked = design.dense.result_buffer.tiles
    total = _results(design, tiles)
    ends = (total - _results(design, max(tiles - booked - more, 0)) for more in range(3))
    return tuple(sorted({*range(1, _WAY_OUT + 1), *ends} & set(range(1, total))))


def _results(design: LayerDesign, tiles: int) -> int:
    """Beats of Y in `tiles` tiles."""
    schedule = design.dense.schedule
    whole, rest = divmod(tiles, schedule.column_tiles)
    row = whole * schedule.beats_per_row + sum(schedule.row_beats(tile) for tile in range(rest))
    return row * schedule.config.rows


def _rows(layer: MatMulLayer, m: int, generator: np.random.Generator) -> npt.NDArray[Any]:
    """`m` rows of A: those that reach the ends of a column's sums, constant ones, and random ones of every swing
    about the zero point and of anything.
    """
    if isinstance(layer.a_format, Float8Format):
        return float8_rows(layer, m, generator, positive=_positive(layer))
    a_format, k = layer.a_format, layer.k
    center = layer.a_zero_point or 0
    positive = _positive(layer)
    special = [
        np.where(positive, a_format.max, a_format.min),
        np.where(positive, a_format.min, a_format.max),
        np.full(k, a_format.min),
        np.full(k, a_format.max),
        np.full(k, center),
    ]
    swing = (a_format.max - a_format.min) * 0.5 ** generator.integers(1, 7, (m, 1))
    a = np.rint(generator.uniform(-1, 1, (m, k)) * swing) + center
    whole = generator.random((m, 1)) < _WHOLE  # a zero point may be far from the middle
    a = np.where(whole, generator.integers(a_format.min, a_format.max + 1, (m, k)), a)
    for row, values in zip(range(0, m, 2), special, strict=False):
        a[row] = values
    return a_format.saturate(a)


def _positive(layer: MatMulLayer) -> npt.NDArray[np.bool_]:
    """Mask of the weights of column 0 above their zero point, [K]; for float8, of the codes without a sign."""
    if isinstance(layer.b_format, Float8Format):
        return layer.b_format.codes(layer.b[:, 0]) < _SIGN
    above: npt.NDArray[np.bool_] = layer.centered_b[:, 0] > 0
    return above


def _zero_points(layer: MatMulLayer, m: int, generator: np.random.Generator) -> npt.NDArray[Any] | None:
    """Zero points for `m` rows, [m, 1], where they come with A: both ends, with those of A that make the sums'."""
    if not layer.takes_zero_points:
        return None
    a_format = integer_format("a_format", layer.a_format)
    points = random_operands(a_format, (m, 1), generator)
    ends = np.array([a_format.min, a_format.min, a_format.max, a_format.max])
    points[:8] = np.concatenate([ends, ends[::-1]])[:m, None]
    return points


def _y_beats(packing: LayerPacking, y: npt.NDArray[Any]) -> tuple[YBeat, ...]:
    words, _ = packing.expect(y)
    columns = (*(each.tolist() for each in packing.y_beats()), to_integers(words), packing.y_last().tolist())
    return tuple(
        YBeat(row=row, column=column, count=count, word=word, last=last)
        for row, column, count, word, last in zip(*columns, strict=True)
    )
