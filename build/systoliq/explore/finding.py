"""Findings: what work on a point, a plan or widths has given, as workers return it and the cache keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Finding"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Result of a stage for a point.

    `status` is "done", "impossible" (such a design cannot be: the reason says why) or "failed" (a tool or a process
    did, which another run may not see). Only the first two are worth keeping.
    """

    status: str
    values: dict[str, Any]
    reason: str = ""
    seconds: float = 0.0
