"""Mismatches: outputs that are not what golden says, with their places."""

from __future__ import annotations

import dataclasses

__all__ = ["Mismatch"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mismatch:
    """One output that is not what golden says; `got` is None where it never came, a word where it was undefined."""

    row: int
    column: int
    expected: int
    got: int | str | None

    def __str__(self) -> str:
        got = "nothing" if self.got is None else self.got
        return f"row {self.row}, column {self.column}: expected {self.expected}, got {got}"
