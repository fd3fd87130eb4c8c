"""Properties as data: a harness, a claim, a method, and a bug that must make the proof fail."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "Bounded",
    "Decision",
    "FromAnyState",
    "Induction",
    "Method",
    "Property",
    "SeededBug",
    "Unbounded",
    "Verdict",
]


@dataclass(frozen=True)
class FromAnyState:
    """For any register values, the claim is true ``latency`` cycles later: hence for all time from then on.

    For blocks without feedback, whose harness states its ``latency`` (0 for combinational blocks). This is induction
    without a hypothesis. Solver: Bitwuzla.
    """

    bound = "all inputs, all time"

    def __str__(self) -> str:
        return "from any state"


@dataclass(frozen=True)
class Induction:
    """k-induction: true in the first ``cycles`` cycles, and in every cycle that follows ``cycles`` good ones."""

    cycles: int

    def __str__(self) -> str:
        return "k-induction"

    @property
    def bound(self) -> str:
        """Coverage of the proof, in words."""
        return f"all time (k = {self.cycles})"


@dataclass(frozen=True)
class Bounded:
    """True in each of the first ``cycles`` cycles after power-up. Solver: Bitwuzla."""

    cycles: int

    def __str__(self) -> str:
        return "bounded"

    @property
    def bound(self) -> str:
        """Coverage of the proof, in words."""
        return f"{self.cycles} cycles"


@dataclass(frozen=True)
class Unbounded:
    """True for all time from power-up: ABC's property-directed reachability finds an inductive invariant and checks it.

    ``cover_cycles`` is the number of cycles within which the harness' covers can be reached.
    """

    cover_cycles: int

    bound = "all time"

    def __str__(self) -> str:
        return "PDR"


Method = FromAnyState | Induction | Bounded | Unbounded


@dataclass(frozen=True, kw_only=True)
class SeededBug:
    """A defect put into the source of the hardware: in ``systoliq.hw.<module>`` the text ``old`` becomes ``new``."""

    module: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Property:
    """One claim about one block.

    ``harness`` makes the component to prove: its ports are free inputs, its ``Assert`` statements are the claim, its
    ``Assume`` statements the conditions, and each ``Cover`` must be reachable. The optional attribute ``formulas`` has
    further claims in SMT-LIB, for arithmetic that hardware cannot express, such as IEEE 754; ``{port}`` stands for a
    port of the harness (anything else may be optimized away). With its attribute ``free_products``, the claim is proven
    for any multiplication that meets the conditions, which a separate property proves for real multiplication. See
    `.unroll.Unrolling`.

    The test run tries ``quick`` properties and their bugs; ``make prove`` tries all.
    """

    name: str
    claim: str
    harness: Callable[[], Any]
    method: Method
    bug: SeededBug
    seconds: int = 600
    quick: bool = False


class Verdict(enum.Enum):
    """Result of a proof; only PROVEN is a success. UNCHANGED: not tried, since a record has this key already."""

    PROVEN = "proven"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    ERROR = "error"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Decision:
    """A verdict and, if it is not PROVEN, the reason: a trace, an unreachable cover, a message.

    `key` identifies what was decided; see `.record.key_of`.
    """

    verdict: Verdict
    detail: str = ""
    key: str = ""

    def write(self, file: Path) -> None:
        """Write the decision as JSON."""
        file.write_text(json.dumps({**asdict(self), "verdict": self.verdict.value}))

    @classmethod
    def read(cls, file: Path) -> Decision:
        """Return what `write` wrote."""
        found = json.loads(file.read_text())
        return cls(Verdict(found["verdict"]), found["detail"], found["key"])
