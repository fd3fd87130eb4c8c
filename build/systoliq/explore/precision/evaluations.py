"""Evaluations of widths: each stored by its content; several in parallel with processes or a cluster."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, ClassVar, Protocol

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import Network, network_arrays
from systoliq.sim.cache import content_key

from ..cache import Store
from ..code_key import code_key
from ..executor import Executor
from ..finding import Finding
from ..network_data import NetworkData
from .costs import Costs
from .narrowing import Widths

__all__ = ["Evaluated", "Evaluations", "WidthsTask", "evaluate_widths"]


class Evaluated(Protocol):
    """A subject that can be evaluated at widths, such as a `Study`."""

    @property
    def network(self) -> Network:
        """Network that is narrowed."""

    @property
    def data(self) -> NetworkData:
        """Inputs and their classes."""

    @property
    def costs(self) -> Costs:
        """Costs of the hardware."""

    def measured(self, widths: Widths) -> dict[str, Any]:
        """Return accuracy and costs at `widths`, evaluated now."""

    def alone(self) -> Evaluated:
        """Return a copy without results, for another process."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class WidthsTask:
    """Widths at which the network of `study` is evaluated, in one go."""

    stage: ClassVar[str] = "widths"
    study: Evaluated
    points: tuple[Widths, ...]


def evaluate_widths(task: WidthsTask) -> list[Finding]:
    """A finding for each of the widths."""
    return [Finding(status="done", values=task.study.measured(widths)) for widths in task.points]


class Evaluations:
    """Figures of the network of `study` at widths: from `store` where they are there, else evaluated, and kept.

    `executor` does `evaluate_widths`; without one they are evaluated here.
    """

    def __init__(self, study: Evaluated, *, store: Store | None = None, executor: Executor | None = None) -> None:
        self._study, self._store, self._executor = study, store, executor
        self._known: dict[str, dict[str, Any]] = {}
        self._about = "" if store is None else _content(study)

    def figures(self, widths: Widths) -> dict[str, Any]:
        """Accuracy and costs; see `Study.measured`."""
        known = self._found(widths)
        if known is None:
            known = self._study.measured(widths)
            self._keep(widths, known)
        return dict(known)

    def prepare(self, several: Iterable[Widths], advance: Callable[[], None]) -> None:
        """Have the figures of `several` widths ready; `advance` is called for each that is."""
        left = []
        for widths in several:
            if self._executor is None or self._found(widths) is not None:
                self.figures(widths)
                advance()
            else:
                left.append(widths)
        if self._executor is None or not left:
            return
        alone = self._study.alone()
        tasks = [WidthsTask(study=alone, points=(widths,)) for widths in left]
        for index, (finding,) in self._executor.run(tasks):
            if finding.status == "done":  # what failed is evaluated here, when it is asked for
                self._keep(left[index], finding.values)
            advance()

    def _found(self, widths: Widths) -> dict[str, Any] | None:
        key = _text(widths)
        if key not in self._known and self._store is not None:
            kept = self._store.get(content_key(self._about, key))
            if kept is not None:
                self._known[key] = kept.values
        return self._known.get(key)

    def _keep(self, widths: Widths, figures: dict[str, Any]) -> None:
        key = _text(widths)
        self._known[key] = figures
        if self._store is not None:
            about = {"stage": "widths", "widths": json.loads(key)}
            self._store.put(content_key(self._about, key), Finding(status="done", values=figures), about)


def _text(widths: Widths) -> str:
    return json.dumps(dataclasses.asdict(widths), sort_keys=True)


def _content(study: Evaluated) -> str:
    """Content of everything that figures depend on except the widths: the network, its data, the plan, the code."""
    design = study.costs.design
    plan = [] if design is None else design.plan.as_json()
    data = npz_bytes({**study.data.inputs, "systoliq classes": study.data.classes})
    code = code_key("systoliq.explore.precision.study")
    network = npz_bytes(network_arrays(study.network))
    return content_key("widths", version("systoliq"), code, network, data, study.costs.target, json.dumps(plan))
