"""The funnel: points go through a stage, from the store where they are in it, through the executor where not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..cache import Store
from ..executor import Executor
from ..finding import Finding
from ..progress import NoProgress, Progress
from .evaluate import Task
from .keys import stage_key, subject_key
from .settings import Settings
from .space import Point
from .subjects.subject import Subject

__all__ = ["Funnel"]

_POINTS_PER_TASK = {"model": 12}  # milliseconds each: a task of one would be all overhead


@dataclass(kw_only=True)
class Funnel:
    """Results of a subject's points by stage; `computed` counts results that were not in the store."""

    subject: Subject
    settings: Settings
    store: Store
    open_executor: Callable[[], Executor]
    progress: Progress = field(default_factory=NoProgress)
    findings: dict[Point, dict[str, Finding]] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)
    _executor: Executor | None = None

    def __post_init__(self) -> None:
        self._subject_key = subject_key(self.subject)

    def run(self, stage: str, points: Sequence[Point]) -> None:
        """Take the points through the stage; each finding is kept the moment it is there."""
        knows = self.subject.model_knows_target
        keys = {
            point: stage_key(stage, self._subject_key, point, self.settings, model_knows_target=knows)
            for point in points
        }
        missing: dict[str, list[Point]] = {}  # points of one key are the same work
        for point, key in keys.items():
            kept = self.store.get(key)
            if kept is None:
                missing.setdefault(key, []).append(point)
            else:
                self.findings.setdefault(point, {})[stage] = kept
        left = sum(len(same) for same in missing.values())
        self.progress.start(stage, len(points), len(points) - left)
        try:
            if missing:
                self._compute(stage, missing)
        finally:
            self.progress.end(stage)

    def _compute(self, stage: str, missing: dict[str, list[Point]]) -> None:
        keys = list(missing)
        size = _POINTS_PER_TASK.get(stage, 1)
        chunks = [keys[start : start + size] for start in range(0, len(keys), size)]
        tasks = [
            Task(
                stage=stage, points=tuple(missing[key][0] for key in chunk), subject=self.subject,
                subject_key=self._subject_key, settings=self.settings,
            )
            for chunk in chunks
        ]  # fmt: skip
        if self._executor is None:
            self._executor = self.open_executor()
        for index, found in self._executor.run(tasks):
            for key, finding in zip(chunks[index], found, strict=True):
                about = {"stage": stage, **missing[key][0].as_dict()}
                self.store.put(key, finding, about)
                self.computed[stage] = self.computed.get(stage, 0) + 1
                for point in missing[key]:
                    self.findings.setdefault(point, {})[stage] = finding
                self.progress.advance(stage, len(missing[key]))

    def close(self) -> None:
        """End the executor."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None
