"""Keys of findings in the cache: the content of everything that a stage depends on."""

from __future__ import annotations

import json
from importlib.metadata import version

from systoliq.sim.cache import content_key

from ..code_key import code_key
from .settings import Settings
from .space import Point
from .subjects.subject import Subject

__all__ = ["stage_key", "subject_key"]

_EVALUATION = "systoliq.explore.grid.evaluate"
_MEASURED = "systoliq.explore.measured"
_CODE = {
    "model": (_EVALUATION,),
    "synthesis": (_EVALUATION, _MEASURED),
    "place": (_EVALUATION, _MEASURED),
    "cosimulation": (_EVALUATION,),
}
"""Modules that find a stage's results."""


def subject_key(subject: Subject) -> str:
    """Content of a subject, and of the code of its kind."""
    return content_key(type(subject).__name__, code_key(type(subject).__module__), *subject.content)


def stage_key(stage: str, subject: str, point: Point, settings: Settings, *, model_knows_target: bool = False) -> str:
    """Content of all that the finding of a stage depends on; `subject` is a `subject_key`."""
    depends = point.as_dict()
    if stage in ("model", "cosimulation"):
        depends |= {"cells": point.hardware_cells, "batch": settings.batch}
        if stage == "cosimulation" or not model_knows_target:  # the device does not matter here beyond its cells
            depends["target"] = ""
    if stage == "cosimulation":
        depends["simulator"] = settings.simulator
    if stage in ("synthesis", "place"):
        depends["tools"] = settings.synthesizer.identity()
    if stage == "place":
        depends["seeds"] = settings.seeds
    return content_key(
        stage, version("systoliq"), code_key(*_CODE[stage]), subject, json.dumps(depends, sort_keys=True)
    )
