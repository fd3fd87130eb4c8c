"""EngineSession: a model with InferenceSession's call, its products on the engine's Verilog under a simulator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from systoliq.hw.engine import EngineConfig
from systoliq.sim.runner import SimulatorName

from ..errors import InputError, expect, path_of
from ..onnx import Model
from .backends import Backend, MemoryBackend, SimulationOptions, StreamBackend
from .division import Division
from .feed import checked_feed
from .lowering import lowered
from .operations import Array
from .products import asked_of_engine
from .reference import Reference
from .report import InferenceReport, StepReport
from .steps import EngineStep, HostStep, VectorStep

__all__ = ["EngineSession"]


class EngineSession:
    """Run the quantized ONNX model in the file `model` with its products on a simulated engine.

    Every product of 8-bit integers runs on an engine with the configuration `config` in `simulator`; everything else
    runs in onnxruntime. Each product and output is compared with golden and with onnxruntime. If onnxruntime's own
    kernels saturate, its exact result is used instead; see `InferenceReport.saturated`. `only` lists the products for
    the engine; the others stay in onnxruntime. `stalls` is the probability of a pause per cycle on each stream, and
    `progress` receives the current step.

    With `bus` (32, 64 or 128), the model is compiled for the shapes of its inputs and runs on the DMA engine: one
    simulator runs the compiled lists, with the host's steps between them. `config.vector` requires `bus`.

    Raises InputError for a model that onnxruntime rejects, or that has no product for the engine; with `bus`, the first
    run raises the latter.

    >>> session = EngineSession("model.onnx", EngineConfig(rows=16, cols=16))
    >>> logits, = session.run(None, {"x": images})
    >>> session.report.check().cycles
    """

    def __init__(
        self,
        model: str | Path | Model,
        config: EngineConfig | None = None,
        *,
        only: Collection[str] | None = None,
        simulator: SimulatorName = "verilator",
        stalls: float = 0.0,
        seed: int = 0,
        progress: Callable[[str], None] | None = None,
        bus: int | None = None,
    ) -> None:
        model = model if isinstance(model, Model) else path_of("model", model)
        expect("config", config, EngineConfig, type(None))
        expect("bus", bus, int, type(None))
        expect("only", only, Collection, type(None))
        expect("stalls", stalls, int, float)
        expect("seed", seed, int)
        self.config = config or EngineConfig()
        if self.config.vector and bus is None:
            raise InputError("vector requires bus: the vector unit reads and writes memory")
        self.tensors: dict[str, Array] = {}
        self._report: InferenceReport | None = None
        self._progress = progress or (lambda text: None)
        self._progress("onnxruntime's graph")
        self._model = lowered(model)
        options = SimulationOptions(simulator=simulator, stalls=stalls, seed=seed, progress=self._progress)
        self._engine: Backend = (
            StreamBackend(Division(self._model, only=only), self.config, options)
            if bus is None
            else MemoryBackend(self._model, self.config, options, bus=bus, only=only)
        )

    def __repr__(self) -> str:
        size = f"{self.config.rows} x {self.config.cols} x {self.config.depth}"
        return f"EngineSession({str(self._model.path)[-100:]!r}, engine {size} {self.config.cells})"

    def get_inputs(self) -> list[Any]:
        """Return name, shape and type of each input, as InferenceSession does."""
        return self._model.session.inputs

    def get_outputs(self) -> list[Any]:
        """Return name, shape and type of each output, as InferenceSession does."""
        return self._model.session.outputs

    @property
    def report(self) -> InferenceReport:
        """Report of the last `run`; raises RuntimeError before the first one."""
        if self._report is None:
            raise RuntimeError("there is no report before the first run")
        return self._report

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, npt.ArrayLike]) -> list[Array]:
        """Return the outputs with these names (None: all) for the inputs by name, and set `report`.

        Afterwards, `tensors` has every tensor between steps, by onnxruntime's name.
        """
        outputs = [each.name for each in self.get_outputs()]
        names = outputs if output_names is None else list(output_names)
        if unknown := [name for name in names if name not in outputs]:
            raise InputError(f"outputs must be among {', '.join(outputs)}, not {unknown[0]!r}")
        feed = checked_feed(self.get_inputs(), input_feed)
        self._progress("onnxruntime")
        ends = self._model.session.run(outputs, feed)
        with self._engine.ready(feed) as division:
            tensors, reports = division.constants | feed, []
            for place, step in enumerate(division.steps, 1):
                if isinstance(step, HostStep):
                    tensors |= division.pieces[step].run(tensors)
                elif isinstance(step, VectorStep):
                    self._progress(f"step {place} of {len(division.steps)}: vector unit {step.name}")
                    reports.append((step.output, self._vector(step, tensors)))
                else:
                    self._progress(f"step {place} of {len(division.steps)}: {step.node.op_type} {step.name}")
                    reports.append((step.node.output[0], self._product(step, tensors)))
        self.tensors = {name: tensors[name] for name in division.crossing}
        reference = Reference.of(division, feed, ends, tensors)
        self._report = InferenceReport(
            steps=tuple(reference.step(report, name, tensors[name]) for name, report in reports),
            host=division.host,
            outputs={name: reference.output(name, tensors[name]) for name in outputs},
        )
        return [tensors[name] for name in names]

    def _product(self, step: EngineStep, tensors: dict[str, Array]) -> StepReport:
        """Run a step on the engine, and store its output in `tensors`."""
        asked = asked_of_engine(step.node, tensors)
        y, figures = self._engine.product(step, asked)
        tensors[step.node.output[0]] = y
        return StepReport.of(step.name, step.node.op_type, asked, self.config, figures, y)

    def _vector(self, step: VectorStep, tensors: dict[str, Array]) -> StepReport:
        """Run a step on the vector unit, and store its output in `tensors`."""
        y, golden, figures = self._engine.vector(step, [tensors[name] for name in step.inputs])
        tensors[step.output] = y
        return StepReport.of_vector(step.name, step.operator, figures, y, golden)
