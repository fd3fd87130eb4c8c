"""The parts that designs are synthesized for, by name."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import meant
from .families import FAMILIES
from .target import Target

__all__ = ["TARGETS", "Target", "open_target"]

TARGETS: Mapping[str, Target] = {target.name: target for family in FAMILIES.values() for target in family.targets}


def open_target(name: str, what: str = "target") -> Target:
    """The target called `name`; ValueError, naming the argument `what`, if there is none."""
    if name not in TARGETS:
        raise ValueError(f"{what} must be one of {', '.join(TARGETS)}, not {name!r}{meant(name, TARGETS)}")
    return TARGETS[name]
