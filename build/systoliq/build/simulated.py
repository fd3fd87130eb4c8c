"""What a run of a design gives, whatever kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from .errors import InputError

__all__ = ["Simulated", "check_stalls"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """Outputs of a run, and its report, ready for JSON."""

    y: npt.NDArray[Any]
    report: dict[str, Any]
    passed: bool


def check_stalls(stalls: float) -> None:
    """An InputError where `stalls` is no probability of a pause in a cycle."""
    if not 0 <= stalls < 1:
        raise InputError(f"stalls must be at least 0 and below 1, not {stalls!r}")
