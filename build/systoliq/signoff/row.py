"""A row of the sign-off table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["FAILED", "NOT_RUN", "PASSED", "Row"]

PASSED = "passed"
FAILED = "failed"
NOT_RUN = "not run"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One question and its answer.

    item
        the item of OpenTitan's checklists that asks the same, such as LINT_COMPLETE.
    result
        PASSED, FAILED or NOT_RUN.
    detail
        what was found, in one line.
    command
        how to get the answer without `systoliq signoff`; "" if there is no such command.

    Notes
    -----
        what a reviewer reads next: waivers with their reasons, points that were not covered.
    """

    item: str
    question: str
    result: str
    detail: str
    command: str = ""
    notes: Sequence[str] = field(default=())
