"""The result of a simulation of any hardware: its tensors beside golden's, and the rules that it violated."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.markup import described

from .process import SimulationError

if TYPE_CHECKING:
    from .exchange import BenchOutcome
    from .runner import SimulatorName

__all__ = ["MATRIX", "Compared", "Simulated", "figure_rows"]

_FIGURES = (
    "simulator", "outputs", "mismatches", "float32_mismatches", "onnxruntime_mismatches", "onnxruntime_saturated",
    "cycles", "model_cycles", "macs",
)  # fmt: skip
MATRIX = "row {}, column {}"
"""`Compared.place` of a matrix."""

_REPORTED = 10  # elements that differ
_SHOWN = 5


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """A tensor of the hardware, ``found``, and golden's, ``expected``, of the same shape.

    ``of`` begins each difference, and is not formatted. ``there`` is False for elements that never arrived; None if all
    did. ``place`` formats the indices of an element. ``tensor`` is ``found`` in ONNX's shape, by default ``found``
    itself.
    """

    found: npt.NDArray[Any]
    expected: npt.NDArray[Any]
    place: str
    of: str = ""
    there: npt.NDArray[np.bool_] | None = None
    tensor: npt.NDArray[Any] | None = None

    @property
    def array(self) -> npt.NDArray[Any]:
        """The tensor in ONNX's shape; elements that never arrived are 0."""
        return self.found if self.tensor is None else self.tensor

    @cached_property
    def wrong(self) -> npt.NDArray[np.intp]:
        """Indices [n, axes] of the elements that differ or did not arrive, in order."""
        differs = self.found != self.expected
        return np.argwhere(differs if self.there is None else differs | ~self.there)

    @property
    def differences(self) -> list[str]:
        """The first of these elements: place, expected, actual."""
        shown = self.wrong[:_REPORTED].tolist()
        return [f"{self.of}{self.place.format(*at)}: {self._values(tuple(at))}" for at in shown]

    def _values(self, at: tuple[int, ...]) -> str:
        got = "nothing" if self.there is not None and not self.there[at] else self.found[at]
        return f"expected {self.expected[at]}, got {got}"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """Result of a simulation, compared with golden; true if it passed.

    Parameters
    ----------
    outputs
        the results by name. Where the host converts the hardware's outputs, these are ``sums``, and ``y`` the host's.
    tensors
        everything that was compared by name: for networks, every tensor that the hardware computes, in its order.
    violations
        other faults: a ``last`` in the wrong place, missing beats, a broken rule of the bus.
    cycles
        from the first beat in to the last beat out, both included.
    macs
        multiply-accumulates of the run.
    utilization
        ``macs`` per multiply-accumulate that the hardware could do in ``cycles``.
    seconds
        time of the simulator.
    name
        of the design.
    facts
        further entries of ``report``.
    """

    outputs: Mapping[str, npt.NDArray[Any]]
    tensors: Mapping[str, Compared]
    cycles: int
    macs: int
    utilization: float
    seconds: float
    simulator: SimulatorName
    violations: tuple[str, ...] = ()
    log: Path | None = None
    name: str = ""
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(
        cls,
        outcome: BenchOutcome,
        tensors: Mapping[str, Compared],
        violations: Iterable[str],
        *,
        simulator: SimulatorName,
        macs: int,
        macs_per_cycle: int,
        log: Path,
    ) -> Simulated:
        """Return the result of a bench; ``violations`` were found in its beats, in addition to the bench's own."""
        cycles = outcome.last_cycle - outcome.first_cycle + 1 if outcome.last_cycle >= 0 else 0
        faults = (*outcome.violations, *violations)
        if outcome.wrong and not faults and not any(len(each.wrong) for each in tensors.values()):
            faults = (f"{outcome.wrong} beats were wrong before a reset",)
        return cls(
            outputs={name: each.array for name, each in tensors.items()},
            tensors=tensors,
            cycles=cycles,
            macs=macs,
            utilization=macs / max(macs_per_cycle * cycles, 1),
            seconds=outcome.seconds,
            simulator=simulator,
            violations=faults,
            log=log,
            facts={"simulated_cycles": outcome.cycles},
        )

    def __bool__(self) -> bool:
        """`passed`."""
        return self.passed

    def __repr__(self) -> str:
        found = "passed" if self.passed else f"{self.mismatches} mismatches"
        arrays = ", ".join(f"{name}: {array.dtype} {list(array.shape)}" for name, array in self.outputs.items())
        return f"Simulated({found}, {arrays[:140]})"

    def _repr_html_(self) -> str:
        return described(repr(self), ("", ""), figure_rows(self.report), self.faults[:_SHOWN])

    @property
    def y(self) -> npt.NDArray[Any]:
        """The first output."""
        return next(iter(self.outputs.values()))

    @cached_property
    def mismatches(self) -> int:
        """Number of elements of all tensors that differ or did not arrive."""
        return sum(len(each.wrong) for each in self.tensors.values())

    @property
    def passed(self) -> bool:
        """True if every element of every tensor is right and no rule was violated."""
        return not self.mismatches and not self.violations

    @property
    def faults(self) -> list[str]:
        """The first elements that differ, and all violations, a line each."""
        return [*self.report["first_mismatches"], *self.violations]

    @property
    def report(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        named = {"name": self.name} if self.name else {}
        return named | {
            "simulator": self.simulator,
            "outputs": sum(int(each.expected.size) for each in self.tensors.values()),
            "mismatches": self.mismatches,
            "violations": list(self.violations),
            "first_mismatches": [line for each in self.tensors.values() for line in each.differences][:_REPORTED],
            "cycles": self.cycles,
            "macs": self.macs,
            "utilization": self.utilization,
            "seconds": round(self.seconds, 3),
            **self.facts,
        }

    def with_facts(self, **facts: Any) -> Simulated:
        """Return this result with further entries of the report."""
        return dataclasses.replace(self, facts={**self.facts, **facts})

    def check(self) -> Simulated:
        """Return this result, or raise `SimulationError` with the first faults."""
        if self.passed:
            return self
        report, log = self.report, f" (log: {self.log})" if self.log else ""
        count = f"{report['mismatches']} of {report['outputs']} outputs differ from golden under {self.simulator}{log}"
        raise SimulationError("\n".join([f"{count}:", *report["first_mismatches"][:_SHOWN], *self.violations[:_SHOWN]]))


def figure_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the figures of a simulation's report in words."""
    rows = [(key.replace("_", " "), str(report[key])) for key in _FIGURES if key in report]
    if "jobs" in report:
        rows.append(("jobs", str(len(report["jobs"]))))
    if "utilization" in report:
        rows.append(("utilization", f"{report['utilization']:.1%}"))
    return [*rows, ("seconds", str(report.get("seconds", "")))]
