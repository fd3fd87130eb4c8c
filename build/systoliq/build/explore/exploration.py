"""Exploration: the stages one after the other, each on the points that the one before has left, down to the front."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systoliq.golden.layer import MatMulLayer
from systoliq.sim.runner import SimulatorName

from ..errors import InputError
from . import table
from .cache import Store
from .evaluate import STAGES, Settings
from .executor import Executor, LocalProcesses
from .funnel import Funnel, NoProgress, Progress
from .pareto import OBJECTIVES, best_first, front_mask
from .ranges import parse_words
from .requirements import meets, size
from .sampler import sample
from .space import Point, Space
from .subject import Subject, open_subject
from .synthesizer import NoSynthesizer, Synthesizer

__all__ = ["DEFAULTS", "Exploration", "explore"]

DEFAULTS: Mapping[str, Any] = {
    "rows": "1",
    "cols": "1,2,5,10",
    "depth": "1:8:x2",
    "a_bits": "4:8:2",
    "b_bits": "3,4,6,8",
    "requantizer": "near-tie",
    "requantizer_bits": "8:24:8",
    "cells": "auto",
    "target": "ecp5-85k",
}
"""The axes where nothing is said."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Exploration:
    """What was found: `rows` of plain values, one for each point, in the columns of `table.COLUMNS`.

    `objectives` maps each objective to the column that stood for it; `computed` says how many points each stage
    worked on, the others having been in the cache; `blocks` gives the LUT sites of each kind of block where the
    synthesizer gives them.
    """

    subject: Subject
    settings: Settings
    rows: list[dict[str, Any]]
    points_of_rows: list[Point]
    objectives: dict[str, str]
    computed: dict[str, int]
    blocks: dict[Point, dict[str, int]]
    sampled: bool

    @property
    def points(self) -> Any:
        """All points, as a polars DataFrame."""
        return table.frame(self.rows)

    @property
    def front_rows(self) -> list[dict[str, Any]]:
        """Rows of the front, the cheapest first."""
        column = self.objectives.get("area") or "bit_products"
        return sorted((row for row in self.rows if row["front"]), key=lambda row: (row["target"], row[column]))

    @property
    def front(self) -> Any:
        """The front, as a polars DataFrame, the cheapest first."""
        return table.frame(self.front_rows)

    @property
    def verified(self) -> bool:
        """Whether every point of the front did in cosimulation what the models say."""
        return all(row["cosim"] == "equal" for row in self.front_rows)

    def choose(self, requirements: Mapping[str, float]) -> dict[str, Any] | None:
        """The smallest point that meets the requirements (see `requirements.parse_requirements`); None where none does.

        Where `exactness` was not asked about, of equally small ones the more accurate.
        """
        known = [row for row in self.rows if row["status"] == "done" and row["stage"] == self.deepest]
        fitting = [row for row in known if all(meets(row, *requirement) for requirement in requirements.items())]
        return min(fitting, key=size, default=None)

    @property
    def deepest(self) -> str | None:
        """The deepest stage that a point was taken through, cosimulation apart."""
        reached = [STAGES.index(row["stage"]) for row in self.rows if row["stage"]]
        return STAGES[max(reached)] if reached else None

    def layer_of(self, row: Mapping[str, Any]) -> MatMulLayer:
        """The layer at the widths of a row."""
        return self.subject.at(row["a_bits"], row["b_bits"])


def explore(
    source: str | Subject,
    *,
    data: Path | None = None,
    weights: Path | None = None,
    objective: str | Sequence[str] | None = None,
    synthesis: int = 0,
    place: int = 0,
    cosimulate_front: bool = True,
    batch: int = 64,
    seeds: int = 3,
    simulator: SimulatorName = "verilator",
    budget: int = 2000,
    jobs: int | None = None,
    memory: int | None = None,
    scheduler: str | None = None,
    cache: Path | None = None,
    synthesizer: Synthesizer | None = None,
    progress: Progress | None = None,
    **axes: Any,
) -> Exploration:
    """Explore the layer `source` over `axes` (ranges as `ranges.parse_range` reads them; `DEFAULTS` for the rest).

    Parameters
    ----------
    data
        archive with `inputs` and `labels`, or `inputs` and reference `outputs`.
    objective
        names of `pareto.OBJECTIVES`; throughput, area and, where there is data, accuracy where nothing is said.
    synthesis, place
        how many points of each target to take through synthesis and through place and route: the best ones.
    budget
        points at most; from a larger grid optuna samples.
    memory
        bytes for each process.
    scheduler
        address of a dask scheduler, in place of local processes.
    cache
        directory for finished points.
    synthesizer
        who measures area and frequency; `systoliq.build.synth` by default.
    """
    space = _space(axes)
    _check_least(1, batch=batch, seeds=seeds, budget=budget)
    _check_least(0, synthesis=synthesis, place=place)
    subject = source if isinstance(source, Subject) else open_subject(source, data=data, weights=weights)
    names = _objectives(objective, subject)
    if synthesizer is None:
        synthesizer = _real_synthesizer() if synthesis or place else NoSynthesizer()
    settings = Settings(batch=batch, seeds=seeds, simulator=simulator, synthesizer=synthesizer)
    executor, progress = _executor(jobs, memory, scheduler), progress or NoProgress()
    funnel = Funnel(subject=subject, settings=settings, store=Store(cache), open_executor=executor, progress=progress)
    with contextlib.closing(funnel):
        points, sampled = _points(space, funnel, names, budget)
        stages = {"synthesis": max(synthesis, place), "place": place}
        return _narrow(funnel, points, names, sampled, stages=stages, cosimulate_front=cosimulate_front)


def _space(axes: Mapping[str, Any]) -> Space:
    """The space of `axes`, those that are not given (or None) at their defaults."""
    unknown = sorted(set(axes) - set(DEFAULTS))
    if unknown:
        raise TypeError(f"axes must be among {', '.join(DEFAULTS)}, not {unknown[0]!r}")
    return Space.parse(**{**DEFAULTS, **{name: value for name, value in axes.items() if value is not None}})


def _points(space: Space, funnel: Funnel, names: tuple[str, ...], budget: int) -> tuple[Sequence[Point], bool]:
    """The points to look at, all through the models, and whether they are a sample of the space."""
    if space.size > budget:
        return sample(space, funnel, names, budget), True
    points = list(space.points())
    funnel.run("model", points)
    return points, False


def _check_least(least: int, **counts: int) -> None:
    for name, value in counts.items():
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}")


def _narrow(
    funnel: Funnel,
    points: Sequence[Point],
    names: tuple[str, ...],
    sampled: bool,
    *,
    stages: Mapping[str, int],
    cosimulate_front: bool,
) -> Exploration:
    """Take the best of `points`, as many as `stages` says, through each stage, and the front through cosimulation."""
    chosen = points
    for stage, count in stages.items():
        if count:
            chosen = _best(funnel, chosen, names, count)
            funnel.run(stage, chosen)
    exploration = _assemble(funnel, points, chosen, names, sampled)
    front = [point for point, row in zip(points, exploration.rows, strict=True) if row["front"]]
    if cosimulate_front and front:
        funnel.run("cosimulation", front)
        exploration = _assemble(funnel, points, chosen, names, sampled)
    return exploration


def _objectives(asked: str | Sequence[str] | None, subject: Subject) -> tuple[str, ...]:
    if asked is None:
        return ("throughput", "area", "accuracy") if subject.scored else ("throughput", "area", "exactness")
    return parse_words("objective", asked, OBJECTIVES)


def _real_synthesizer() -> Synthesizer:
    from .measured import MeasuredSynthesizer  # needs Yosys and nextpnr, which only these stages ask for

    return MeasuredSynthesizer()


def _executor(jobs: int | None, memory: int | None, scheduler: str | None) -> Callable[[], Executor]:
    if scheduler is None:
        local = LocalProcesses(jobs, memory)
        return lambda: local
    from .dask_cluster import DaskCluster

    cluster = DaskCluster(scheduler)  # now, so that a scheduler that is not there is known before any work
    return lambda: cluster


def _row(funnel: Funnel, point: Point) -> dict[str, Any]:
    layer = funnel.subject.layer
    return table.row(point, funnel.findings.get(point, {}), layer.k * layer.n)


def _best(funnel: Funnel, points: Sequence[Point], names: tuple[str, ...], count: int) -> list[Point]:
    """The `count` best points of each target, by what is known so far."""
    best: list[Point] = []
    for target in dict.fromkeys(point.target for point in points):
        known = [(point, _row(funnel, point)) for point in points if point.target == target]
        known = [(point, row) for point, row in known if row["status"] == "done"]
        if known:
            rows = [row for _, row in known]
            matrix = table.costs(rows, table.objective_columns(names, rows))
            best += [known[index][0] for index in best_first(matrix, count)]
    return best


def _assemble(
    funnel: Funnel, points: Sequence[Point], last: Sequence[Point], names: tuple[str, ...], sampled: bool
) -> Exploration:
    rows = [_row(funnel, point) for point in points]
    reached = set(last)
    columns: dict[str, str] = {}
    candidates = [i for i, point in enumerate(points) if point in reached and _counts(rows[i])]
    if candidates:
        columns = table.objective_columns(names, [rows[i] for i in candidates])
    for target in dict.fromkeys(points[i].target for i in candidates):
        same = [i for i in candidates if points[i].target == target]
        for i, best in zip(same, front_mask(table.costs([rows[i] for i in same], columns)), strict=True):
            rows[i]["front"] = bool(best)
    blocks = {
        point: dict(stages["synthesis"].values["blocks"])
        for point, stages in funnel.findings.items()
        if "synthesis" in stages and stages["synthesis"].values.get("blocks")
    }
    return Exploration(
        subject=funnel.subject,
        settings=funnel.settings,
        rows=rows,
        points_of_rows=list(points),
        objectives=columns,
        computed=dict(funnel.computed),
        blocks=blocks,
        sampled=sampled,
    )


def _counts(row: Mapping[str, Any]) -> bool:
    """A point whose cosimulation could not be run stays on the front, unverified and visibly so."""
    return row["status"] == "done" or str(row["reason"]).startswith("cosimulation")
