"""Placing of plans: each is a task, done here, in local processes or on a cluster, and kept by its content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar

from systoliq.golden.archive import npz_bytes
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network, network_arrays
from systoliq.sim.cache import content_key

from ...design import Design
from ...errors import SynthesisError
from ...synth import DoesNotFitError, SynthReport
from ...synth.targets import TARGETS, Target
from ..cache import Store
from ..code_key import code_key
from ..evaluate import Finding
from ..executor import Executor

__all__ = ["Measured", "PlaceTask", "Placing", "Synthesize", "place_task"]

Synthesize = Callable[[Design, Target, Sequence[int]], SynthReport]

_CODE = ("systoliq.explore.question.placing", "systoliq.explore.question.designs")


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
    seeds: tuple[int, ...]
    synthesize: Synthesize | None = None

    @property
    def points(self) -> tuple[int]:
        """One."""
        return (1,)


def place_task(task: PlaceTask) -> list[Finding]:
    """Result of place and route: sizes and MHz, or the reason why there is none; no error of a tool is raised."""
    from .designs import design_of_json

    make = task.synthesize or _synthesize
    part = TARGETS[task.target]
    try:
        report = make(design_of_json(task.subject, task.plan, task.target), part, task.seeds)
    except DoesNotFitError as error:
        return [Finding(status="impossible", values={}, reason=_one_line(error))]
    except SynthesisError as error:
        return [Finding(status="failed", values={}, reason=_one_line(error))]
    values = {name: int(getattr(report, name)) for name in ("lut_sites", "dsp", "ram")}
    return [Finding(status="done", values={**values, "fmax_mhz": float(report.fmax_mhz or 0)})]


def _synthesize(design: Design, part: Target, seeds: Sequence[int]) -> SynthReport:
    return design.synthesize(part, seeds=seeds)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


class Placing:
    """Places plans of `subject` that are not in `store`, several in parallel if `executor` allows.

    Without an executor tasks run in this process, one by one.
    """

    def __init__(
        self,
        subject: Network | MatMulLayer,
        target: str,
        seeds: int,
        *,
        synthesize: Synthesize | None = None,
        executor: Executor | None = None,
        store: Store | None = None,
    ) -> None:
        self._subject, self._target, self._seeds = subject, target, tuple(range(1, seeds + 1))
        self._synthesize, self._executor, self._store = synthesize, executor, store
        self._about: str | None = None

    @property
    def width(self) -> int:
        """Number of plans that are placed in parallel."""
        return max(1, int(getattr(self._executor, "jobs", 1)))

    def place(self, plans: Sequence[list[dict[str, Any]]]) -> Iterator[tuple[int, Finding]]:
        """The index and the finding of each of `plans`, as they are finished."""
        left = []
        for index, plan in enumerate(plans):
            known = None if self._store is None else self._store.get(self._key(plan))
            if known is None:
                left.append(index)
            else:
                yield index, known
        tasks = [
            PlaceTask(
                subject=self._subject, plan=plans[index], target=self._target, seeds=self._seeds,
                synthesize=self._synthesize,
            )
            for index in left
        ]  # fmt: skip
        for at, (finding,) in self._run(tasks) if tasks else ():
            index = left[at]
            if self._store is not None:
                self._store.put(self._key(plans[index]), finding, {"stage": "place", "plan": plans[index]})
            yield index, finding

    def _run(self, tasks: Sequence[PlaceTask]) -> Iterator[tuple[int, list[Finding]]]:
        if self._executor is None:
            return ((index, place_task(task)) for index, task in enumerate(tasks))
        return self._executor.run(tasks)

    def _key(self, plan: list[dict[str, Any]]) -> str:
        if self._about is None:
            arrays = self._subject.arrays() if isinstance(self._subject, MatMulLayer) else network_arrays(self._subject)
            tools = "given" if self._synthesize else _tools()
            parts = (version("systoliq"), code_key(*_CODE), npz_bytes(arrays), self._target, f"{self._seeds}", tools)
            self._about = content_key("place a plan", *parts)
        return content_key(self._about, json.dumps(plan, sort_keys=True))


def _tools() -> str:
    from ..measured import MeasuredSynthesizer

    return MeasuredSynthesizer().identity()
