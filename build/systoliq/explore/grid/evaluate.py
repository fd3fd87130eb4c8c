"""Evaluation: cost and performance of a point, stage by stage. These functions run in worker processes.

model         cycles, utilization, ...: the subject's own model          milliseconds
synthesis     LUT sites, flip-flops, DSPs, memories; standard cells     seconds
place         frequency over seeds; of standard cells, before layout    minutes
cosimulation  the Verilog against golden, its cycles against the model
"""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import UnusedElaboratable

from ..finding import Finding
from .settings import Settings
from .space import Point
from .subjects.subject import Subject

__all__ = ["STAGES", "Task", "run_task"]

STAGES = ("model", "synthesis", "place", "cosimulation")


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """Points to take through one stage, in one go."""

    stage: str
    points: tuple[Point, ...]
    subject: Subject
    subject_key: str
    settings: Settings


def run_task(task: Task) -> list[Finding]:
    """A finding for each point; no error of a point gets out."""
    warnings.simplefilter("ignore", UnusedElaboratable)  # the cycle model is asked for, and no Verilog
    if task.subject_key not in _subjects:
        _subjects.clear()
    subject = _subjects.setdefault(task.subject_key, task.subject)
    return [_finding(task, subject, point) for point in task.points]


_subjects: dict[str, Subject] = {}  # one object for all tasks of a process, so that its cached properties are reused


def _finding(task: Task, subject: Subject, point: Point) -> Finding:
    started = time.perf_counter()
    try:
        values = _values(task.stage, subject, point, task.settings)
    except (ValueError, TypeError) as error:
        return Finding(status="impossible", values={}, reason=_one_line(error), seconds=time.perf_counter() - started)
    except MemoryError:
        return Finding(status="failed", values={}, reason=f"{task.stage}: the memory limit was reached")
    except Exception as error:  # noqa: BLE001 - after any error of a tool, the other points continue
        detail = _one_line(error) or traceback.format_exc(limit=1).splitlines()[-1]
        return Finding(status="failed", values={}, reason=f"{task.stage}: {detail}")
    return Finding(status="done", values=values, seconds=time.perf_counter() - started)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


def _values(stage: str, subject: Subject, point: Point, settings: Settings) -> dict[str, Any]:
    if stage == "model":
        return subject.model(point, settings)
    if stage == "cosimulation":
        return subject.cosimulate(point, settings)
    design = subject.design(point)
    if stage == "synthesis":
        return settings.synthesizer.area(design, point.target)
    return settings.synthesizer.frequency(design, point.target, settings.seeds)
