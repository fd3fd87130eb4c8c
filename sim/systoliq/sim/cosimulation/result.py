"""A run's result: every output with its golden value, and every violated rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from systoliq.hw.packing import Flags

from ..exchange import BenchOutcome
from ..mismatch import Mismatch
from ..process import SimulationError
from ..runner import SimulatorName

__all__ = ["CosimulationResult", "Mismatch", "compare"]

REPORTED = 100  # mismatches kept with their place


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CosimulationResult:
    """Result of a run.

    `y` and `expected` are [M, N] (for the bare array, the sums). `mismatches` counts the outputs that differ, and
    `details` places the first hundred of them. `violations` are other faults: a `last` in the wrong place, beats too
    many, a broken rule of the bus, a difference before a reset. `cycles` runs from the first beat of A to the last of
    Y, both included; `simulated_cycles` is all that the simulator went through, and `seconds` the time that took.
    `utilization` is useful multiply-accumulates (`macs`) per multiply-accumulate that the array could do in `cycles`.
    """

    y: npt.NDArray[np.integer]
    expected: npt.NDArray[np.integer]
    mismatches: int
    details: tuple[Mismatch, ...]
    violations: tuple[str, ...]
    cycles: int
    simulated_cycles: int
    seconds: float
    simulator: SimulatorName
    macs: int
    utilization: float
    log: Path

    @property
    def passed(self) -> bool:
        """True if every output is right and no rule was violated."""
        return not self.mismatches and not self.violations

    def check(self) -> CosimulationResult:
        """Return this result, or raise `SimulationError` with the first errors."""
        if self.passed:
            return self
        faults = [*map(str, self.details[:5]), *self.violations[:5]]
        raise SimulationError(
            f"{self.mismatches} of {self.expected.size} outputs differ from golden under {self.simulator} "
            f"(log: {self.log}):\n" + "\n".join(faults)
        )


def compare(
    outcome: BenchOutcome,
    y: npt.NDArray[np.integer],
    there: Flags,
    expected: npt.NDArray[np.integer],
    violations: Iterable[str],
    *,
    simulator: SimulatorName,
    macs: int,
    macs_per_cycle: int,
    log: Path,
) -> CosimulationResult:
    """Compare `outcome`, unpacked to `y` if there were outputs, with `expected`.

    `violations` were found when it was unpacked; the bench's violations are added.
    """
    faults = [*outcome.violations, *violations]
    places = np.argwhere((y != expected) | ~there)
    details = tuple(
        Mismatch(
            row=int(row),
            column=int(column),
            expected=int(expected[row, column]),
            got=int(y[row, column]) if there[row, column] else None,
        )
        for row, column in places[:REPORTED]
    )
    if outcome.wrong and not places.size and not faults:
        faults = [f"{outcome.wrong} beats were wrong before a reset"]
    cycles = outcome.last_cycle - outcome.first_cycle + 1 if outcome.last_cycle >= 0 else 0
    return CosimulationResult(
        y=y,
        expected=expected,
        mismatches=len(places),
        details=details,
        violations=tuple(faults),
        cycles=cycles,
        simulated_cycles=outcome.cycles,
        seconds=outcome.seconds,
        simulator=simulator,
        macs=macs,
        utilization=macs / (macs_per_cycle * cycles) if cycles else 0.0,
        log=log,
    )
