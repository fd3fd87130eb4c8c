"""Exploration: the stages one after the other, each on the points that the one before has left, down to the front."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...design import Design
from ...design.engine.workloads import Product
from ...errors import InputError
from ...synth.targets import TARGETS
from ..executor import Executor
from ..pareto import OBJECTIVES, best_first, front_mask
from ..requirements import meets, requirements_of, size
from ..run import Run
from ..synthesizer import NoSynthesizer, Synthesizer
from . import table
from .evaluate import STAGES, run_task
from .funnel import Funnel
from .ranges import parse_words
from .sampler import sample
from .settings import Settings
from .space import Point, Space
from .subjects.opened import open_subject
from .subjects.subject import Subject

__all__ = ["Exploration", "explore"]

_BUDGET = 2000  # points


@dataclass(frozen=True, kw_only=True, eq=False)
class Exploration:
    """Results of an exploration: `rows` of plain values, one for each point, in the columns of `table.COLUMNS`.

    `objectives` maps each objective to its column; if devices differ, for the first device. `requirements` are the
    requested limits by name. `computed` is the number of points that each stage computed; the others were in the cache.
    `blocks` holds the LUT sites of each kind of block, if the synthesizer reports them.
    """

    subject: Subject
    settings: Settings
    rows: list[dict[str, Any]]
    points_of_rows: list[Point]
    objectives: dict[str, str]
    requirements: dict[str, float]
    computed: dict[str, int]
    blocks: dict[Point, dict[str, int]]
    sampled: bool

    @property
    def points(self) -> Any:
        """All points, as a polars DataFrame."""
        return table.frame(self.rows, table.columns_of(self.subject))

    @property
    def front_rows(self) -> list[dict[str, Any]]:
        """Rows of the front, the cheapest first."""
        return sorted((row for row in self.rows if row["front"]), key=lambda row: (row["target"], size(row)))

    @property
    def front(self) -> Any:
        """The front, as a polars DataFrame, the cheapest first."""
        return table.frame(self.front_rows, table.columns_of(self.subject))

    @property
    def passed(self) -> bool:
        """True if every point of the front matched its models in cosimulation."""
        return all(row["cosim"] == "equal" for row in self.front_rows)

    @property
    def chosen(self) -> dict[str, Any] | None:
        """The row that `choose` takes for the requirements that were asked for; None where there were none."""
        return self.choose(self.requirements) if self.requirements else None

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

    def design(self, row: table.Row) -> Design:
        """Return the design of a row, also of a row of the table (`row(..., named=True)`)."""
        return self.subject.design(self.subject.point(row))


def explore(
    source: object,
    space: Mapping[str, Any] | None = None,
    *,
    data: Path | None = None,
    workload: str | Path | Sequence[Product] | None = None,
    require: str | Mapping[str, float] | None = None,
    objective: str | Sequence[str] | None = None,
    run: Run | None = None,
) -> Exploration:
    """Explore `source` over `space`: measure its points, and find the front.

    Parameters
    ----------
    source
        a layer, a network or the engine, as the command line names it; a `MatMulLayer`, a `Network`, an `EngineConfig`
        (whose values are the defaults of the axes), a design of one of them, or a `Subject`.
    space
        values of axes by name: ranges as `ranges.parse_range` reads them, or words.
    data
        archive with `inputs` and `labels`, or reference `outputs`, of a layer.
    workload
        products for an engine; see `workload.open_workload`.
    require
        `"throughput=1e6,area=2000"`, or limits by name; see `Exploration.chosen`.
    objective
        names of `pareto.OBJECTIVES`. Default: throughput, area and, with data, accuracy.
    run
        effort, workers and cache. The best `synthesis` points of each target are synthesized, and the best `place`
        placed and routed.
    """
    run = run or Run()
    requirements = requirements_of(require)
    budget = _BUDGET if run.budget is None else run.budget
    if budget < 1:
        raise InputError(f"budget must be at least 1, not {budget}")
    subject = open_subject(source, data=data, workload=workload)
    grid = Space.parse(subject.axes, subject.point, dict(space or {}))
    targets = grid.axes["target"]
    _check_unit(targets, requirements)
    names = subject.objectives if objective is None else parse_words("objective", objective, OBJECTIVES)
    settings = Settings(
        batch=run.batch,
        seeds=run.seeds,
        simulator=run.simulator,
        synthesizer=run.synthesizer or _synthesizer(targets, run),
    )
    funnel = Funnel(
        subject=subject, settings=settings, store=run.store, open_executor=_executor(run), progress=run.progress
    )
    with contextlib.closing(funnel):
        points, sampled = _points(grid, funnel, names, budget)
        found = _narrow(funnel, points, names, sampled, run)
        return dataclasses.replace(found, requirements=requirements)


def _points(space: Space, funnel: Funnel, names: tuple[str, ...], budget: int) -> tuple[Sequence[Point], bool]:
    """The points to look at, all through the models, and whether they are a sample of the space."""
    if space.size > budget:
        return sample(space, funnel, names, budget), True
    points = list(space.points())
    funnel.run("model", points)
    return points, False


def _check_unit(targets: Sequence[str], requirements: Mapping[str, float]) -> None:
    """An InputError where the smallest would be one of areas in several units."""
    units = {TARGETS[target].family == "generic": target for target in targets}
    if requirements and len(units) > 1:
        raise InputError(
            f"require must be for parts or for standard cells, not for {units[False]} and {units[True]}: areas have "
            "different units"
        )


def _narrow(funnel: Funnel, points: Sequence[Point], names: tuple[str, ...], sampled: bool, run: Run) -> Exploration:
    """Pass the best of `points`, as many as `run` says, through each stage, and the front through cosimulation."""
    chosen = points
    for stage, count in (("synthesis", max(run.synthesis, run.place)), ("place", run.place)):
        if count:
            chosen = _best(funnel, chosen, names, count)
            funnel.run(stage, chosen)
    exploration = _assemble(funnel, points, chosen, names, sampled)
    front = [point for point, row in zip(points, exploration.rows, strict=True) if row["front"]]
    if run.cosimulate and front:
        funnel.run("cosimulation", front)
        exploration = _assemble(funnel, points, chosen, names, sampled)
    return exploration


def _synthesizer(targets: Sequence[str], run: Run) -> Synthesizer:
    """Return the synthesizer for these targets, which must have everything that the stages of `run` need."""
    liberty, mhz = run.liberty, run.mhz
    if liberty is not None and targets != ("generic",):
        raise InputError(f"liberty must be given for the target generic alone, not for {', '.join(targets)}")
    if mhz is not None and not (0 < mhz < math.inf and all(TARGETS[each].family == "generic" for each in targets)):
        raise InputError(
            f"mhz must be positive, and given for standard cells alone, not {mhz:g} for {', '.join(targets)}"
        )
    if not run.synthesis and not run.place:
        return NoSynthesizer()
    from ..measured import measured_synthesizer  # needs Yosys and nextpnr, which only these stages ask for

    return measured_synthesizer(targets, timed=run.place > 0, liberty=liberty, mhz=mhz)


def _executor(run: Run) -> Callable[[], Executor]:
    executor = run.executor(run_task)  # now, so that a scheduler that does not answer is known before any work
    return lambda: executor


def _row(funnel: Funnel, point: Point) -> dict[str, Any]:
    return table.row(point, funnel.findings.get(point, {}), funnel.subject.work)


def _best(funnel: Funnel, points: Sequence[Point], names: tuple[str, ...], count: int) -> list[Point]:
    """The `count` best points of each target, by the results so far."""
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
    for target in dict.fromkeys(points[i].target for i in candidates):
        same = [i for i in candidates if points[i].target == target]
        own = table.objective_columns(names, [rows[i] for i in same])
        columns = columns or own
        for i, best in zip(same, front_mask(table.costs([rows[i] for i in same], own)), strict=True):
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
        requirements={},
        computed=dict(funnel.computed),
        blocks=blocks,
        sampled=sampled,
    )


def _counts(row: Mapping[str, Any]) -> bool:
    """A point whose cosimulation could not be run stays on the front, unverified and visibly so."""
    return row["status"] == "done" or str(row["reason"]).startswith("cosimulation")
