"""A run: its inputs, stalls and resets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from systoliq.hw.packing import Integers

__all__ = ["Run"]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One run of a dense layer: its rows of A [M, K], and how it is disturbed.

    `batches` is a number of batches, as equal as can be, or their row counts; they follow each other without a pause.
    `stalls` are the probabilities of a pause in a cycle, of the source of A and of the taker of Y. After each of
    `resets` resets, at random moments, the run begins again. `bulk` moves the beats inside the simulator, an order of
    magnitude faster than by Python; it needs a run without resets, and is the default there. `a_zero_point` is for
    layers whose zero point of A comes at run time: one for all rows, or one per row.
    """

    a: npt.NDArray[np.integer]
    stalls: tuple[float, float] | float = 0
    seed: int = 0
    resets: int = 0
    batches: int | Sequence[int] = 1
    bulk: bool | None = None
    a_zero_point: npt.ArrayLike | None = None

    @property
    def probabilities(self) -> tuple[float, float]:
        """`stalls` for each side."""
        return _probabilities(self.stalls)

    @property
    def rows(self) -> list[int]:
        """The row counts of the batches."""
        m = len(self.a)
        if isinstance(self.batches, int):
            if not 1 <= self.batches <= m:
                raise ValueError(f"batches must be 1 to {m} for {m} rows, not {self.batches!r}")
            return [len(part) for part in np.array_split(np.arange(m), self.batches)]
        rows = [int(count) for count in self.batches]
        if sum(rows) != m or min(rows, default=0) < 1:
            raise ValueError(f"batches must be positive and sum to the {m} rows of a, not {list(self.batches)!r}")
        return rows

    @property
    def in_bulk(self) -> bool:
        """`bulk`, or its default."""
        if self.bulk and self.resets:
            raise ValueError(f"resets must be 0 in bulk, not {self.resets!r}")
        return not self.resets if self.bulk is None else self.bulk

    def reset_cycles(self, unstalled: int) -> Integers:
        """Random cycles of the resets within a run of `unstalled` cycles, including its first and last beat."""
        if self.resets < 0:
            raise ValueError(f"resets must be 0 or more, not {self.resets!r}")
        return np.random.default_rng(self.seed).integers(1, unstalled, self.resets, endpoint=True)

    def limit(self, unstalled: int) -> int:
        """Cycles that no correct run exceeds if it takes `unstalled` cycles without stalls."""
        source, other = self.probabilities
        return int(4 * unstalled / ((1 - source) * (1 - other))) + 1000


def _probabilities(stalls: tuple[float, float] | float) -> tuple[float, float]:
    pair = stalls if isinstance(stalls, tuple) else (stalls, stalls)
    if len(pair) != 2 or not all(isinstance(value, int | float) for value in pair):
        raise TypeError(f"stalls must be a probability or a pair of them, not {stalls!r}")
    if not all(0 <= value < 1 for value in pair):
        raise ValueError(f"stalls must be at least 0 and below 1, not {stalls!r}")
    return float(pair[0]), float(pair[1])
