"""Mutants of what turns a sum into an output: tried on every sum that the layer can reach, by the reader of `verify`.

Such a mutant is equivalent where it stands when every sum of every column still gives its output. It is so as a
circuit, too: nothing of it has a state, and a change of one expression mixes no two sums that follow one another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..verify.checks import verify_package

__all__ = ["is_evaluated", "wrong_sum"]

_ROOTS = ("requantizer", "constants")
_KINDS = ("operator", "constant", "bit select", "condition", "width")


def is_evaluated(blocks: Sequence[str], kind: str) -> bool:
    """Whether `verify` evaluates a mutant of this kind, in the first of `blocks`; the others hold it."""
    return kind in _KINDS and any(block.endswith(_ROOTS) for block in blocks)


def wrong_sum(folder: Path) -> str | None:
    """What is wrong with a column of the package in `folder`, whose certificate has the digests of its files: "" where
    every sum of every column gives its output, None where that was not found out.
    """
    report = verify_package(folder)
    if report.passed and report.complete == report.columns:
        return ""
    return next((reason for reason in report.reasons if re.search(r"column \d+", reason)), None)
