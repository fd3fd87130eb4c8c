"""Placing of plans: each is a task, done here, in local processes or on a cluster, and kept by its content."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar

from systoliq.golden.archive import npz_bytes
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network, network_arrays
from systoliq.sim.cache import content_key

from ...errors import InputError, SynthesisError
from ..cache import Store
from ..code_key import code_key
from ..executor import Executor
from ..finding import Finding
from ..measured import MeasuredSynthesizer
from ..run import Run
from ..synthesizer import Synthesizer

__all__ = ["Measured", "PlaceTask", "Placing", "place_task"]

_CODE = ("systoliq.explore.question.placing", "systoliq.explore.question.designs", "systoliq.explore.measured")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A design after place and route: sizes of the part's report, the median MHz of its seeds."""

    lut_sites: int
    dsp: int
    ram: int
    fmax_mhz: float


@dataclass(frozen=True, kw_only=True, eq=False)
class PlaceTask:
    """A plan of `subject`, as `Plan.as_json` gives it, to be placed and routed on `target`."""

    stage: ClassVar[str] = "place"
    subject: Network | MatMulLayer
    plan: list[dict[str, Any]]
    target: str
    seeds: int
    synthesizer: Synthesizer

    @property
    def points(self) -> tuple[int]:
        """One."""
        return (1,)


def place_task(task: PlaceTask) -> list[Finding]:
    """Result of place and route: sizes and MHz, or the reason why there is none; no error of a tool is raised."""
    from .designs import design_of_json

    design = design_of_json(task.subject, task.plan, task.target)
    try:
        found = task.synthesizer.frequency(design, task.target, task.seeds)
    except InputError as error:
        return [Finding(status="impossible", values={}, reason=_one_line(error))]
    except SynthesisError as error:
        return [Finding(status="failed", values={}, reason=_one_line(error))]
    values = {name: int(found[name]) for name in ("lut_sites", "dsp", "ram")}
    return [Finding(status="done", values={**values, "fmax_mhz": float(found["fmax_mhz"] or 0)})]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


class Placing:
    """Places plans of `subject` that are not in the store of `run`, several in parallel if `executor` allows.

    Without an executor tasks run in this process, one by one.
    """

    def __init__(self, subject: Network | MatMulLayer, target: str, run: Run, executor: Executor | None) -> None:
        self._subject, self._target, self._run, self._executor = subject, target, run, executor
        self._synthesizer = run.synthesizer or MeasuredSynthesizer()

    @functools.cached_property
    def _store(self) -> Store:
        return self._run.store

    @property
    def width(self) -> int:
        """Number of plans that are placed in parallel."""
        return max(1, int(getattr(self._executor, "jobs", 1)))

    def place(self, plans: Sequence[list[dict[str, Any]]]) -> Iterator[tuple[int, Finding]]:
        """The index and the finding of each of `plans`, as they are finished."""
        left = []
        for index, plan in enumerate(plans):
            known = self._store.get(self._key(plan))
            if known is None:
                left.append(index)
            else:
                yield index, known
        tasks = [
            PlaceTask(
                subject=self._subject, plan=plans[index], target=self._target, seeds=self._run.seeds,
                synthesizer=self._synthesizer,
            )
            for index in left
        ]  # fmt: skip
        for at, (finding,) in self._done(tasks) if tasks else ():
            index = left[at]
            self._store.put(self._key(plans[index]), finding, {"stage": "place", "plan": plans[index]})
            yield index, finding

    def _done(self, tasks: Sequence[PlaceTask]) -> Iterator[tuple[int, list[Finding]]]:
        if self._executor is None:
            return ((index, place_task(task)) for index, task in enumerate(tasks))
        return self._executor.run(tasks)

    def _key(self, plan: list[dict[str, Any]]) -> str:
        return content_key(self._about, json.dumps(plan, sort_keys=True))

    @functools.cached_property
    def _about(self) -> str:
        """Content of everything that a result depends on except the plan."""
        arrays = self._subject.arrays() if isinstance(self._subject, MatMulLayer) else network_arrays(self._subject)
        parts = (version("systoliq"), code_key(*_CODE), npz_bytes(arrays), self._target, f"{self._run.seeds}")
        return content_key("place a plan", *parts, self._synthesizer.identity())
