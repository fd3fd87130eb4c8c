"""The sampler: past a budget, optuna's NSGA-II looks for good points instead of the grid."""

from __future__ import annotations

from ...errors import need
from ..pareto import OBJECTIVES
from . import table
from .funnel import Funnel
from .space import Point, Space

__all__ = ["sample"]

_GENERATION = 48
_SEED = 0
_GIVE_UP = 5  # generations in a row that brought nothing new


def sample(space: Space, funnel: Funnel, objectives: tuple[str, ...], budget: int) -> list[Point]:
    """At most `budget` points of the space, taken through the cycle model. The same space gives the same points."""
    optuna = need("optuna", "optuna", "explore, where the grid is larger than --budget", extra="explore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        directions=["minimize"] * len(objectives),
        sampler=optuna.samplers.NSGAIISampler(seed=_SEED, population_size=_GENERATION),
    )
    distributions = {name: optuna.distributions.IntDistribution(0, len(space.axes[name]) - 1) for name in space.axes}
    found: dict[Point, None] = {}
    idle = 0
    while len(found) < budget and idle < _GIVE_UP:
        trials = [study.ask(distributions) for _ in range(_GENERATION)]
        points = [space.point({name: space.axes[name][trial.params[name]] for name in space.axes}) for trial in trials]
        new = list(dict.fromkeys(point for point in points if point not in found))[: budget - len(found)]
        idle = 0 if new else idle + 1
        funnel.run("model", new)
        found.update(dict.fromkeys(new))
        for trial, point in zip(trials, points, strict=True):
            costs = _costs(funnel, point, objectives) if point in found else None
            if costs is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, costs)
    return list(found)


def _costs(funnel: Funnel, point: Point, objectives: tuple[str, ...]) -> list[float] | None:
    row = table.row(point, funnel.findings[point], funnel.subject.work)
    if row["status"] != "done":
        return None
    columns = table.objective_columns(objectives, [row])
    return [(-1.0 if OBJECTIVES[name].most else 1.0) * float(row[column]) for name, column in columns.items()]
