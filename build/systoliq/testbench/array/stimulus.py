"""Stimulus of a bare array: tiles of operands, their sums, and both as beats of its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import Float8Format, IntFormat
from systoliq.hw.packing import ArrayPacking, to_integers

from ...design.array.design import ArrayDesign
from ...design.once import once
from ..beats import SEED, Beat, beats_of, random_operands, spans

__all__ = ["ArrayStimulus", "array_stimulus"]


@dataclass(frozen=True, kw_only=True)
class ArrayStimulus:
    """Tiles for a bare array: operands one after the other along K, with the sums [tiles, rows, cols]."""

    inner: tuple[int, ...]  # K of each tile
    a: npt.NDArray[Any]  # [rows, sum of K]
    b: npt.NDArray[Any]  # [sum of K, cols]
    sums: npt.NDArray[Any]
    a_beats: tuple[Beat, ...]
    b_beats: tuple[Beat, ...]
    lines: tuple[int, ...]  # sums of all columns, row after row of tile after tile, as words
    cycles: int


@once
def array_stimulus(design: ArrayDesign) -> ArrayStimulus:
    """Tiles of many lengths, back to back: the shortest, ragged ones, and one of extremes only."""
    config = design.config
    generator = np.random.default_rng(SEED)
    inner: tuple[int, ...] = (1, 1, 2, config.depth, 3 * config.depth + 1, 17, 64, 64, 5, 1)
    if not design.wrap:
        inner = tuple(min(k, design.longest_sum) for k in inner)
    k = sum(inner)
    a, b = (
        random_operands(config.a, (config.rows, k), generator),
        random_operands(config.b, (k, config.cols), generator),
    )
    extreme = slice(sum(inner[:6]), sum(inner[:7]))
    a[:, extreme], b[extreme] = _least(config.a), _least(config.b)
    sums = np.stack([design.model(a[:, start:stop], b[start:stop]) for start, stop in spans(inner)])
    a_beats: list[Beat] = []
    b_beats: list[Beat] = []
    lines: list[int] = []
    for (start, stop), tile in zip(spans(inner), sums, strict=True):
        packing = ArrayPacking(array=design.array, m=config.rows, k=stop - start, n=config.cols)
        a_words, last, b_words = packing.pack(a[:, start:stop], b[start:stop])
        a_beats += beats_of(a_words, last)
        b_beats += beats_of(b_words, last)
        lines += to_integers(packing.expect(tile))
    cycles = design.array.cycles([-(-length // config.depth) for length in inner])
    return ArrayStimulus(
        inner=inner,
        a=a,
        b=b,
        sums=sums,
        a_beats=tuple(a_beats),
        b_beats=tuple(b_beats),
        lines=tuple(lines),
        cycles=cycles,
    )


def _least(fmt: IntFormat | Float8Format) -> int:
    """The code of the least number."""
    return fmt.max_code | 0x80 if isinstance(fmt, Float8Format) else fmt.min
