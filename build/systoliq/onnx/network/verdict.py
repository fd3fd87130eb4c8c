"""Verdicts on the nodes of a model that is read as a network: what becomes of each, and what not and why."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from systoliq.golden.network import Node

__all__ = ["Fate", "Verdict"]


class Fate(enum.Enum):
    """Result of reading a node."""

    STAGE = "stage"
    FOLDED = "folded"
    HOST = "host"
    REFUSED = "not taken"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The fate of the node `name`, an `operator`.

    `stages` are what it becomes; `text` says into what it is folded, what the host does, or the reason why it is not
    taken. `shape` is its result's shape, if the model states it; `multiply_accumulates` is for one batch of the graph's
    inputs, None where unknown. `derived`: it is not taken only because a node before it is not.
    """

    name: str
    operator: str
    fate: Fate
    text: str
    shape: tuple[int | str | None, ...] | None
    multiply_accumulates: int | None
    stages: tuple[Node, ...] = ()
    derived: bool = False
