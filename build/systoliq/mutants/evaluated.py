"""Mutants of the logic from a sum to an output: evaluated by `verify` on every sum that the layer can reach.

Such a mutant is equivalent if every sum of every column gives the same output as in the original. This holds for the
circuit, too: it has no state, and a change of one expression does not mix consecutive sums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..verify.checks import derivation
from ..verify.integer_layer import IntegerLayer
from ..verify.package import read_certificate
from ..verify.report import noted
from .environment import NET, modules_of
from .mutation import Mutant

__all__ = ["is_evaluated", "meanings", "wrong_sum"]

_ROOTS = ("requantizer", "constants")
_MOST_TRIED = 20_000_000  # sums of a layer
_KINDS = ("operator", "constant", "bit select", "condition", "width")


def is_evaluated(blocks: Sequence[str], kind: str) -> bool:
    """True if `verify` evaluates a mutant of this kind, in the first of `blocks`; the other blocks contain it."""
    return kind in _KINDS and any(block.endswith(_ROOTS) for block in blocks)


def meanings(mutant: Mutant, lines: list[str]) -> list[str]:
    """Return the possible meanings of a mutant's text: a selected bit that a narrowed net lost is 0, or 1."""
    text = mutant.applied(lines)
    if mutant.kind != "width" or not (declared := NET.match(mutant.after)):
        return [text]
    missing, net = int(declared[2] or 0) + 1, declared[3]
    body = modules_of(text)[mutant.module]
    selected = re.compile(rf"\b{net}\[{missing}(?::(\d+))?\]")

    def filled(bit: int) -> str:
        def one(select: re.Match[str]) -> str:
            rest = f", {net}[{missing - 1}:{select[1]}]" if select[1] and int(select[1]) < missing else ""
            return f"{{ 1'h{bit}{rest} }}"

        return text.replace(body, selected.sub(one, body))

    return [filled(bit) for bit in range(2)] if selected.search(body) else [text]


def wrong_sum(original: Path, mutant: Path) -> str | None:
    """The first sum whose output is another in the package `mutant` than in `original`, whose certificates have the
    digests of their files: "" if there is no such sum, None if that is unknown.
    """
    found: str | None = None
    with noted([]):
        was, now = (_derived(folder) for folder in (original, mutant))
        found = None if was is None or now is None else _first_unlike(was, now)
    return found  # noqa: RET504  # refusals are noted, and leave None


def _first_unlike(was: IntegerLayer, now: IntegerLayer) -> str | None:
    size = sum(proof.hi - proof.lo + 1 for proof in was.proofs) * was.hardware.effort
    before, after = ([(column.bias, column.residual) for column in layer.columns] for layer in (was, now))
    if size > _MOST_TRIED or before != after:
        return None
    for n, proof in enumerate(was.proofs):
        at = proof.lo
        for right, other in zip(
            *(layer.hardware.respond_in(n, proof.lo, proof.hi) for layer in (was, now)), strict=True
        ):
            wrong = np.flatnonzero(right != other)
            if wrong.size:
                return f"column {n} gives another output for the sum {at + int(wrong[0])}"
            at += len(right)
    return ""


def _derived(folder: Path) -> IntegerLayer | None:
    """The layer of the package, found again; None where it is one of float8."""
    claimed = read_certificate(folder)
    layer = derivation(folder, claimed, claimed["name"])
    if not isinstance(layer, IntegerLayer):
        return None
    layer.derive(lambda _: None)
    return layer
