"""The result of a simulation, of any kind of design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.markup import described
from systoliq.sim import SimulationError
from systoliq.sim.choice import SimulatorChoice

from ..errors import InputError

__all__ = ["Simulated", "check_run", "figure_rows"]

_FIGURES = (
    "simulator", "outputs", "mismatches", "float32_mismatches", "onnxruntime_mismatches", "onnxruntime_saturated",
    "cycles", "model_cycles", "macs",
)  # fmt: skip
_SHOWN = 5  # elements that differ
_WAVES = {"auto": (".vcd", ".fst"), "verilator": (".vcd",), "icarus": (".vcd", ".fst")}


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """Outputs of a run, and its report, ready for JSON.

    The object is true if `passed`. If the host converts the hardware's outputs to `y`, the outputs are `sums`. The
    outputs of a network are `named`, `y` being the first, and `tensors` has all tensors that its hardware computes.
    """

    y: npt.NDArray[Any]
    report: dict[str, Any]
    passed: bool
    sums: npt.NDArray[np.int32] | None = None
    named: Mapping[str, npt.NDArray[Any]] | None = None
    tensors: Mapping[str, npt.NDArray[Any]] | None = None

    def __bool__(self) -> bool:
        """`passed`."""
        return self.passed

    def __repr__(self) -> str:
        found = "passed" if self.passed else f"{self.report.get('mismatches')} mismatches"
        arrays = ", ".join(f"{name}: {array.dtype} {list(array.shape)}" for name, array in self.outputs.items())
        return f"Simulated({found}, {arrays[:140]})"

    def _repr_html_(self) -> str:
        return described(
            repr(self), ("", ""), figure_rows(self.report), [*self.report.get("first_mismatches", ())][:_SHOWN]
        )

    @property
    def outputs(self) -> dict[str, npt.NDArray[Any]]:
        """`y`, and `sums` where there are any, by name; or those that are `named`."""
        if self.named is not None:
            return dict(self.named)
        return {"y": self.y} if self.sums is None else {"sums": self.sums, "y": self.y}

    def check(self) -> Simulated:
        """Return self, or raise `SimulationError` with the differences."""
        if self.passed:
            return self
        report = self.report
        faults = [*report["first_mismatches"][:5], *report["violations"][:5]]
        raise SimulationError(
            f"{report['mismatches']} of {report['outputs']} outputs differ from golden under {report['simulator']}:\n"
            + "\n".join(faults)
        )


def check_run(simulator: SimulatorChoice, stalls: float, waves: Path | None) -> None:
    """An InputError where `stalls` is no probability of a pause, or `waves` no trace that the simulator writes."""
    if not 0 <= stalls < 1:
        raise InputError(f"stalls must be at least 0 and below 1, not {stalls!r}")
    if waves is not None and waves.suffix not in _WAVES[simulator]:
        under = "" if simulator == "auto" else f" under {simulator}"
        raise InputError(f"waves must end in {' or '.join(_WAVES[simulator])}{under}, not {waves.name!r}")


def figure_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the figures of a simulation's report in words."""
    rows = [(key.replace("_", " "), str(report[key])) for key in _FIGURES if key in report]
    if "jobs" in report:
        rows.append(("jobs", str(len(report["jobs"]))))
    if "utilization" in report:
        rows.append(("utilization", f"{report['utilization']:.1%}"))
    return [*rows, ("seconds", str(report.get("seconds", "")))]
