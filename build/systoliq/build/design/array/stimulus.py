"""What a bare array is tried with: tiles of operands, their sums, and both as beats of its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..beats import SEED, Beat, operand_beats, random_operands, spans

if TYPE_CHECKING:
    from .design import ArrayDesign

__all__ = ["ArrayStimulus", "array_stimulus"]


@dataclass(frozen=True, kw_only=True)
class ArrayStimulus:
    """Tiles for a bare array: operands one after the other along K, with the sums [tiles, rows, cols]."""

    inner: tuple[int, ...]  # K of each tile
    a: npt.NDArray[Any]  # [rows, sum of K]
    b: npt.NDArray[Any]  # [sum of K, cols]
    sums: npt.NDArray[np.int64]
    a_beats: tuple[Beat, ...]
    b_beats: tuple[Beat, ...]
    cycles: int


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
    a[:, extreme], b[extreme] = config.a.min, config.b.min
    a_beats: list[Beat] = []
    b_beats: list[Beat] = []
    for start, stop in spans(inner):
        a_beats += operand_beats(a[:, start:stop], config.a, config.depth)
        b_beats += operand_beats(b[start:stop].T, config.b, config.depth)
    sums = np.stack([design.model(a[:, start:stop], b[start:stop]) for start, stop in spans(inner)])
    cycles = design.array.cycles([-(-length // config.depth) for length in inner])
    return ArrayStimulus(
        inner=inner, a=a, b=b, sums=sums, a_beats=tuple(a_beats), b_beats=tuple(b_beats), cycles=cycles
    )
