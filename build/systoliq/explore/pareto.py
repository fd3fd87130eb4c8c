"""Pareto: which points no other point beats, and in which order the rest follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["OBJECTIVES", "Objective", "best_first", "front_mask", "ranks"]


@dataclass(frozen=True, kw_only=True)
class Objective:
    """An objective: the first of `columns` that the deepest stage has filled, to be maximized if `most`, else
    minimized.
    """

    columns: tuple[str, ...]
    most: bool = False


OBJECTIVES = {
    "throughput": Objective(columns=("inferences_per_s", "inferences_per_kcycle"), most=True),
    "latency": Objective(columns=("latency_us", "latency_cycles")),
    "area": Objective(columns=("lut_sites", "cell_area", "gates", "bit_products")),
    "accuracy": Objective(columns=("accuracy",), most=True),
    "exactness": Objective(columns=("inexact",)),
    "dsp": Objective(columns=("dsp", "macs_per_cycle")),
    "ram": Objective(columns=("ram", "memory_bits", "bit_products")),
    "ff": Objective(columns=("ff", "bit_products")),
    "efficiency": Objective(columns=("macs_per_s_per_lut", "utilization"), most=True),
    "utilization": Objective(columns=("utilization",), most=True),
    "bandwidth": Objective(columns=("io_mb_per_s", "io_bits_per_cycle")),
    "error": Objective(columns=("rms_error",)),
}
"""Objectives by name, as in `--objective`."""


def front_mask(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Mask of the rows of `costs` [points, objectives], to be minimized, that no other row dominates; equal rows do
    not.
    """
    mask = np.ones(len(costs), bool)
    for i, row in enumerate(costs):
        no_worse = np.all(costs <= row, axis=1)
        better = np.any(costs < row, axis=1)
        mask[i] = not np.any(no_worse & better)
    return mask


def ranks(costs: npt.NDArray[np.float64], enough: int | None = None) -> npt.NDArray[np.int64]:
    """Rank by layers: 0 for the front, 1 for the front of the rest, and so on; the last for all beyond `enough`."""
    found = np.full(len(costs), -1)
    rank = 0
    while (found < 0).any():
        left = np.flatnonzero(found < 0)
        if enough is not None and len(costs) - len(left) >= enough:
            found[left] = rank
            break
        found[left[front_mask(costs[left])]] = rank
        rank += 1
    return found


def best_first(costs: npt.NDArray[np.float64], count: int) -> list[int]:
    """The first `count` rows by rank; within the last rank that fits in part, rows farthest from those selected."""
    order: list[int] = []
    found = ranks(costs, enough=count)
    span = np.ptp(costs, axis=0) if len(costs) else np.ones(0)
    scaled = costs / np.where(span > 0, span, 1)
    for rank in range(int(found.max(initial=-1)) + 1):
        members = np.flatnonzero(found == rank).tolist()
        if len(order) + len(members) <= count:
            order += members
            continue
        nearest = _distances(scaled[members], scaled[order])
        while len(order) < count:
            chosen = int(np.argmax(nearest))
            order.append(members[chosen])
            nearest = np.minimum(nearest, np.square(scaled[members] - scaled[members[chosen]]).sum(axis=1))
            nearest[chosen] = -1
        break
    return order


def _distances(rows: npt.NDArray[np.float64], taken: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Squared distance of each row to the nearest one taken; from the least corner where none is."""
    if not len(taken):
        return np.asarray(np.square(rows - rows.min(axis=0)).sum(axis=1))
    return np.asarray(np.square(rows[:, np.newaxis] - taken).sum(axis=2).min(axis=1))
