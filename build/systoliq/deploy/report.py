"""Report of a session: what was compared, and the time of each stage of the network."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from systoliq.markup import described
from systoliq.sim import SimulationError

from ..design.network import NetworkDesign
from ..inference.report import OutputReport

__all__ = ["NetworkReport", "StageReport", "stage_reports"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StageReport:
    """A stage of the pipeline: cycles in which it is `busy` and in which it is `waiting` for its neighbours.

    `busy` is the cycle model's, which the tests hold to the simulation. Both sum up to the cycles of the run.
    """

    name: str
    operator: str
    busy: int
    waiting: int

    @property
    def share(self) -> float:
        """Busy cycles as a share of all."""
        return self.busy / max(self.busy + self.waiting, 1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetworkReport:
    """Report of a run of `images`, `on` a simulator, golden or the port of a board.

    Parameters
    ----------
    cycles
        from the first beat in to the last beat out: `measured` by a simulation, otherwise the cycle model's.
    compared, golden_mismatches
        integers of the network compared with golden, and how many differ; nothing is compared on "golden" itself.
    onnxruntime_mismatches
        elements of the network's result that differ from onnxruntime's for the same integers.
    outputs
        of the model, by name: elements, and how many differ from onnxruntime's for the whole model.
    lines
        the first differences from golden.
    """

    on: str
    images: int
    cycles: int
    measured: bool
    stages: tuple[StageReport, ...]
    compared: int
    golden_mismatches: int
    onnxruntime_mismatches: int
    outputs: Mapping[str, OutputReport]
    lines: Sequence[str] = ()

    def __repr__(self) -> str:
        found = "passed" if self.passed else f"{len(self.mismatches)} differences"
        return f"NetworkReport({found}, {self.images} images on {self.on}, {self.cycles} cycles)"

    def _repr_html_(self) -> str:
        return described(repr(self), self.stage_heads, self.stage_rows, self.mismatches)

    stage_heads: ClassVar[tuple[str, ...]] = ("stage", "operator", "busy cycles", "waiting", "busy")

    @property
    def stage_rows(self) -> list[tuple[str, ...]]:
        """The profile as text, a row for each stage under `stage_heads`."""
        return [
            (stage.name, stage.operator, f"{stage.busy:,}", f"{stage.waiting:,}", f"{stage.share:.0%}")
            for stage in self.stages
        ]

    @property
    def passed(self) -> bool:
        """True if nothing differs, neither from golden nor from onnxruntime."""
        inside = self.golden_mismatches or self.onnxruntime_mismatches
        return not inside and not any(end.mismatches for end in self.outputs.values())

    @property
    def mismatches(self) -> list[str]:
        """The differences, one per line."""
        lines = list(self.lines)
        if self.golden_mismatches:
            lines.append(f"network: {self.golden_mismatches} of {self.compared} integers differ from golden")
        if self.onnxruntime_mismatches:
            lines.append(f"network: {self.onnxruntime_mismatches} integers differ from onnxruntime for the same input")
        return lines + [
            f"output {name!r}: {end.mismatches} of {end.elements} elements differ from onnxruntime"
            for name, end in self.outputs.items()
            if end.mismatches
        ]

    def check(self) -> NetworkReport:
        """Return this report, or raise `SimulationError` with the differences."""
        if self.passed:
            return self
        raise SimulationError("\n".join(self.mismatches))

    def facts(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "passed": self.passed,
            "on": self.on,
            "images": self.images,
            "cycles": self.cycles,
            "cycles_measured": self.measured,
            "stages": [dataclasses.asdict(stage) for stage in self.stages],
            "compared": self.compared,
            "golden_mismatches": self.golden_mismatches,
            "onnxruntime_mismatches": self.onnxruntime_mismatches,
            "outputs": {name: dataclasses.asdict(end) for name, end in self.outputs.items()},
            "differences": self.mismatches,
        }


def stage_reports(design: NetworkDesign, images: int, cycles: int) -> tuple[StageReport, ...]:
    """Return the time of each stage of `design` in a run of `images` that takes `cycles`."""
    return tuple(
        StageReport(
            name=stage.node.name,
            operator=type(stage.node).__name__,
            busy=min(images * stage.image_cycles, cycles),
            waiting=max(cycles - images * stage.image_cycles, 0),
        )
        for stage in design.plan.stages
    )
