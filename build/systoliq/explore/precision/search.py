"""Search for mixed widths: optuna's NSGA-II between accuracy and a cost, starting from each layer's own limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...errors import InputError, need
from ..pareto import front_mask
from .costs import COSTS
from .narrowing import Widths
from .study import Searched, Study

__all__ = ["check_objective", "choose", "search"]

_POPULATION = 24
_SEED = 0
_IDLE = 200  # candidates in a row that were known already, after which nothing new is expected


def search(
    study: Study,
    *,
    objective: str = "area",
    candidates: int = 200,
    seconds: float | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Searched:
    """Add rows of mixed widths to `study`, which has the rows of `uniform` and `each`, and mark the front.

    At most `candidates` are evaluated, within `seconds`; equal arguments give equal rows. `objective` is one of
    `COSTS`.
    """
    column = cost_column(study, objective)
    optuna = need("optuna", "optuna", "explore, where widths are mixed", extra="explore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    tuner = optuna.create_study(
        directions=["maximize", "minimize"],
        sampler=optuna.samplers.NSGAIISampler(seed=_SEED, population_size=_POPULATION),
    )
    places = {name: optuna.distributions.IntDistribution(0, len(study.bits) - 1) for name in _variables(study)}
    for bits in _starts(study):
        tuner.enqueue_trial({name: study.bits.index(each) for name, each in bits.items()})
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    deadline = None if seconds is None else time.monotonic() + seconds
    idle = 0
    while len(found) < candidates and idle < _IDLE:
        if deadline is not None and time.monotonic() > deadline:
            break
        trial = tuner.ask(places)
        bits = {name: study.bits[trial.params[name]] for name in places}
        key = tuple(bits.values())
        idle = idle + 1 if key in found else 0
        if key not in found:
            found[key] = study.add("mixed", _widths(study, bits))
            advance()
        tuner.tell(trial, [found[key]["accuracy"], float(found[key][column])])
    mark_front(study, column)
    late = deadline is not None and len(found) < candidates and idle < _IDLE
    return Searched(asked=candidates, tried=len(found), out_of_time=late)


def check_objective(objective: str) -> None:
    """Raise InputError if the objective is not one of `COSTS`."""
    if objective not in COSTS:
        raise InputError(f"objective must be among {', '.join(COSTS)} with --bits, not {objective!r}")


def cost_column(study: Study, objective: str) -> str:
    """The column of `objective`; an InputError where the network's cost in it is not known."""
    check_objective(objective)
    column = COSTS[objective][0]
    if study.rows and study.rows[0][column] is None:
        reason = study.costs.reason or f"there are no estimates for {study.costs.target}"
        raise InputError(f"objective must be weights here, not {objective!r}: {reason}")
    return column


def mark_front(study: Study, column: str) -> None:
    """Mark the rows of narrower networks that no other beats in accuracy and `column`, the first of equal ones."""
    rows = [row for row in study.rows if row["scope"] in ("all", "mixed")]
    mask = front_mask(np.array([[-row["accuracy"], row[column]] for row in rows], float))
    seen = set()
    for row, best in zip(rows, mask, strict=True):
        figures = row["accuracy"], row[column]
        row["front"] = bool(best) and figures not in seen
        seen |= {figures} if best else set()


def choose(study: Study, accuracy: float, objective: str) -> dict[str, Any]:
    """The row of the least cost that has this accuracy; InputError where none has, with the best that there is."""
    column = cost_column(study, objective)
    rows = [row for row in study.rows if row["scope"] in ("all", "mixed")]
    fitting = [row for row in rows if row["accuracy"] >= accuracy]
    if not fitting:
        best = max(row["accuracy"] for row in rows)
        raise InputError(f"accuracy must be at most {best:.4f}, the best of {len(rows)} candidates, not {accuracy:g}")
    return min(fitting, key=lambda row: (row[column], row["weight_bits"], -row["accuracy"]))


def _variables(study: Study) -> list[str]:
    """Layers' weights, then groups of activations, each under a unique name."""
    return [*(f"w {name}" for name in study.layers), *(f"a {group[0]}" for group in study.groups)]


def _widths(study: Study, bits: Mapping[str, int]) -> Widths:
    return Widths(
        weights={name: bits[f"w {name}"] for name in study.layers},
        activations={name: bits[f"a {group[0]}"] for group in study.groups for name in group},
    )


def _starts(study: Study) -> Iterator[dict[str, int]]:
    """One width for all; then, loss by loss, the fewest bits at which each by itself loses no more than that."""
    for bits in study.bits:
        yield dict.fromkeys(_variables(study), bits)
    base = study.rows[0]["accuracy"]
    alone: dict[str, dict[int, float]] = {name: {} for name in _variables(study)}
    for row in study.rows:
        if row["name"]:
            letter = "w" if row["scope"] == "layer" else "a"
            alone[f"{letter} {row['name']}"][row["bits"]] = base - row["accuracy"]
    seen = set()
    for loss in sorted({0.0, *(each for losses in alone.values() for each in losses.values())}):
        fewest = {
            name: min([at for at, lost in losses.items() if lost <= loss], default=study.bits[0])
            for name, losses in alone.items()
        }
        if (key := tuple(sorted(fewest.items()))) not in seen:
            seen.add(key)
            yield fewest
