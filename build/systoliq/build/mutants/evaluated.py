"""Mutants of what turns a sum into an output: tried on every sum that the layer can reach, by the reader of `verify`.

Such a mutant is equivalent where it stands when every sum of every column still gives its output. It is so as a
circuit, too: nothing of it has a state, and a change of one expression mixes no two sums that follow one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..verify.checks import derivation
from ..verify.package import read_certificate
from ..verify.report import noted

__all__ = ["is_evaluated", "wrong_sum"]

_ROOTS = ("requantizer", "constants")
_KINDS = ("operator", "constant", "bit select", "condition", "width")


def is_evaluated(blocks: Sequence[str], kind: str) -> bool:
    """Whether `verify` evaluates a mutant of this kind, in the first of `blocks`; the others hold it."""
    return kind in _KINDS and any(block.endswith(_ROOTS) for block in blocks)


def wrong_sum(folder: Path) -> str | None:
    """What is wrong with a column of the package in `folder`: "" where every sum of every column gives its output, None
    where that was not found out. What the certificate says of the constants does not matter.
    """
    reasons: list[str] = []
    with noted(reasons):
        claimed = read_certificate(folder)
        package = derivation(folder, claimed, claimed["name"])
        columns = package.derive(lambda _: None)["columns"]
        if package.reasons:
            return None
        wrong = package.inexact or package.try_all(lambda _: None)
        if wrong or package.complete == len(columns):
            return wrong[0] if wrong else ""
    return None
