"""Coverage as Verilator counts it: points of a file coverage.dat  -->  rates by kind, and the points without a hit."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["EXCLUDED_EVENTS", "EXCLUSIONS", "GOALS", "TITLES", "Coverage", "read_coverage"]

GOALS = {"line": 0.95, "branch": 0.95, "toggle": 0.90, "expr": 0.90, "user": 0.85}
"""Smallest rate that passes, by kind."""

TITLES = {
    "line": "line coverage",
    "branch": "branch coverage",
    "toggle": "toggle coverage, each bit in both directions",
    "expr": "condition coverage, each term of an expression that decides",
    "user": "stream events: waits, gaps, back to back, resets in each of them",
}
"""The kinds of points, by Verilator's names."""


EXCLUSIONS = {
    r"_constants": "constants of the requantizer: a bit that no constant sets cannot change; verify derives them",
    r"_(requantizer|round_\w+|wide_multiplier|multiplier_\d+x\d+)": "requantizer with the constants of this layer: "
    "verify evaluates this logic on both sides of each step of the output",
}
"""Modules, by the end of their name, whose bits and conditions do not count in a verified package, with the reason."""

EXCLUDED_EVENTS = {
    r"s_axi_ctrl_\w+_back_to_back": "the register bus takes a request after the answer to the one before, so never "
    "two in neighbouring cycles",
}
"""Events that cannot occur, by the end of their name, with the reason. One that occurs counts all the same."""

_VALUES = ("toggle", "expr")  # kinds that depend on values: the others have no exclusion


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Points of one kind: how many there are, the texts of those `missed`, and further ones `excluded`, by reason."""

    points: int
    missed: Sequence[str]
    excluded: Mapping[str, int]

    @property
    def rate(self) -> float:
        """Share of the points that were hit."""
        return 1 - len(self.missed) / self.points if self.points else 0.0


def read_coverage(data: bytes, wanted: Mapping[str, Sequence[str]], *, verified: bool) -> dict[str, Coverage]:
    """The coverage by kind; `wanted` are the base names of the files whose points count, by kind.

    Points of several instances of a module are one point: it is hit if one instance hits it. EXCLUSIONS apply only if
    the package is `verified`.
    """
    hits: dict[str, dict[tuple[str, int, str, str], int]] = defaultdict(lambda: defaultdict(int))
    for line in data.split(b"\n"):
        if not line.startswith(b"C '"):
            continue
        point, _, count = line[3:].rpartition(b"' ")
        fields = dict(each.split("\x02", 1) for each in point.decode().split("\x01") if each)
        kind, file = fields["t"], fields["f"].rpartition("/")[2]
        if file in wanted.get(kind, ()):
            module = fields["page"].partition("/")[2]
            hits[kind][module, int(fields["l"]), fields.get("n", ""), fields.get("o", "")] += int(count)
    excluded = dict.fromkeys(_VALUES, EXCLUSIONS if verified else {}) | {"user": EXCLUDED_EVENTS}
    return {kind: _counted(hits[kind], excluded.get(kind, {}), by_text=kind == "user") for kind in wanted}


def _counted(
    hits: Mapping[tuple[str, int, str, str], int], exclusions: Mapping[str, str], *, by_text: bool
) -> Coverage:
    """The coverage of one kind; `exclusions` are of modules, or `by_text` of points: then what is hit counts."""
    points, missed, excluded = 0, [], Counter[str]()
    for (module, line, _, text), count in sorted(hits.items()):
        name = text if by_text else module
        reason = next((reason for end, reason in exclusions.items() if re.search(rf"{end}$", name)), None)
        if reason is not None and not (by_text and count):
            excluded[reason] += 1
            continue
        points += 1
        if not count:
            missed.append(f"{module}, line {line}: {text}")
    return Coverage(points=points, missed=missed, excluded=excluded)
