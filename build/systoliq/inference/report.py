"""Report of an inference: figures of each step, and differences from golden and from onnxruntime."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from systoliq.hw.engine import EngineConfig
from systoliq.markup import described
from systoliq.sim import SimulationError

from .operations import Array, Asked

__all__ = ["Figures", "InferenceReport", "OutputReport", "StepReport", "differing"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figures:
    """Figures of a product on an engine: see `StepReport`."""

    jobs: int
    cycles: int
    bytes: dict[str, int]
    seconds: float
    model_cycles: int | None = None
    beats: dict[str, int] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepReport(Figures):
    """A step on the engine. `shapes` are M, K and N of its operations; a step of the vector unit has none.

    `bytes` counts the bytes of A, B and Y on the streams; with memory, also the bytes of lists, and the bytes that the
    host writes. `seconds` is the simulator's time.

    With streams, `cycles` is the engine's own count for each job and `model_cycles` its cycle model's. For a DMA engine
    both run from the start of a list to its interrupt, and `beats` counts the beats of each memory port.

    `golden_mismatches` are outputs that differ from golden for the same operands, `onnxruntime_mismatches` are outputs
    that differ from onnxruntime's when it runs the whole model. `onnxruntime_saturated` are outputs in which
    onnxruntime's own kernels differ from its exact ones; mismatches are then counted against the exact ones.
    """

    name: str
    operator: str
    shapes: tuple[tuple[int, int, int], ...]
    outputs: int
    multiply_accumulates: int
    utilization: float
    golden_mismatches: int
    onnxruntime_mismatches: int = 0
    onnxruntime_saturated: int = 0

    @classmethod
    def of(cls, name: str, operator: str, asked: Asked, config: EngineConfig, figures: Figures, y: Array) -> StepReport:
        """The report of the node `name` with the output `y`, compared with golden; `Reference` compares it with
        onnxruntime.
        """
        macs = sum(operation.multiply_accumulates for operation in asked.operations)
        whole = figures.cycles * config.macs_per_cycle
        return cls(
            **{field.name: getattr(figures, field.name) for field in dataclasses.fields(Figures)},
            name=name,
            operator=operator,
            shapes=tuple(operation.shape for operation in asked.operations),
            outputs=int(y.size),
            multiply_accumulates=macs,
            utilization=macs / whole if whole else 0.0,
            golden_mismatches=differing(y, asked.golden()),
        )

    @classmethod
    def of_vector(cls, name: str, operator: str, figures: Figures, y: Array, golden: Array) -> StepReport:
        """The report of a step of the vector unit with the output `y`, which has no products."""
        return cls(
            **{field.name: getattr(figures, field.name) for field in dataclasses.fields(Figures)},
            name=name,
            operator=operator,
            shapes=(),
            outputs=int(y.size),
            multiply_accumulates=0,
            utilization=0.0,
            golden_mismatches=differing(y, golden),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputReport:
    """An output of the model: its elements, and how many of them `StepReport` calls onnxruntime's mismatches and
    saturated.
    """

    elements: int
    mismatches: int
    saturated: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class InferenceReport:
    """All steps of an inference. `host` are the nodes that compute products on the host, with their operator and the
    reason; `outputs` are the model's, by name.
    """

    steps: tuple[StepReport, ...]
    host: dict[str, tuple[str, str]]
    outputs: dict[str, OutputReport]

    def __repr__(self) -> str:
        found = "passed" if self.passed else f"{len(self.mismatches)} differences"
        return (
            f"InferenceReport({found}, {len(self.steps)} products, {self.cycles} cycles, {self.utilization:.1%} busy)"
        )

    def _repr_html_(self) -> str:
        heads = ("product", "operator", "jobs", "cycles", "utilization", "differ from golden", "from onnxruntime")
        rows = [
            (
                step.name, step.operator, step.jobs, f"{step.cycles:,}", f"{step.utilization:.1%}",
                step.golden_mismatches, step.onnxruntime_mismatches,
            )
            for step in self.steps
        ]  # fmt: skip
        return described(repr(self), heads, rows, self.mismatches)

    @property
    def passed(self) -> bool:
        """True if nothing differs, neither from golden nor from onnxruntime's exact result."""
        inside = any(step.golden_mismatches or step.onnxruntime_mismatches for step in self.steps)
        return not inside and not any(end.mismatches for end in self.outputs.values())

    @property
    def saturated(self) -> tuple[StepReport, ...]:
        """The steps in which onnxruntime's own result differs from its exact one.

        In the first of them the kernel saturates, since its operands equal the exact run's. The others saturate too, or
        have inputs from such a step.
        """
        return tuple(step for step in self.steps if step.onnxruntime_saturated)

    @property
    def multiply_accumulates(self) -> int:
        """Multiply-accumulates of all products on the engine."""
        return sum(step.multiply_accumulates for step in self.steps)

    @property
    def cycles(self) -> int:
        """Cycles of all jobs, or of all lists; the time between them is not counted."""
        return sum(step.cycles for step in self.steps)

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates per one that the array could do in `cycles`."""
        whole = sum(step.multiply_accumulates / step.utilization for step in self.steps if step.utilization)
        return self.multiply_accumulates / whole if whole else 0.0

    def check(self) -> InferenceReport:
        """Return this report, or raise `SimulationError` with the differences."""
        if self.passed:
            return self
        raise SimulationError("\n".join(self.mismatches))

    @property
    def mismatches(self) -> list[str]:
        """The differences, a line for each step and output."""
        lines = [
            f"{step.operator} {step.name!r}: {count} of {step.outputs} outputs differ from {judge}"
            for step in self.steps
            for judge, count in (
                ("golden", step.golden_mismatches),
                (_judge(step.onnxruntime_saturated), step.onnxruntime_mismatches),
            )
            if count
        ]
        return lines + [
            f"output {name!r}: {end.mismatches} of {end.elements} elements differ from {_judge(end.saturated)}"
            for name, end in self.outputs.items()
            if end.mismatches
        ]

    def facts(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "passed": self.passed,
            "cycles": self.cycles,
            "multiply_accumulates": self.multiply_accumulates,
            "steps": [dataclasses.asdict(step) for step in self.steps],
            "host": {name: {"operator": operator, "reason": why} for name, (operator, why) in self.host.items()},
            "outputs": {name: dataclasses.asdict(end) for name, end in self.outputs.items()},
        }


def _judge(saturated: int) -> str:
    return "onnxruntime's exact result" if saturated else "onnxruntime"


def differing(found: Array, expected: Array) -> int:
    """Elements whose bits differ; all, where the shapes or types do."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return max(found.size, expected.size, 1)
    if found.dtype.kind == "f":  # NaN is not equal to itself
        found, expected = (np.ascontiguousarray(each).view(f"u{each.dtype.itemsize}") for each in (found, expected))
    return int(np.count_nonzero(found != expected))
