"""EngineSession: a model with InferenceSession's call, its products on the engine's Verilog under a simulator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine import Engine
from systoliq.sim.runner import SimulatorName

from ..errors import InputError
from ..onnx.graph import Graph
from .feed import checked_feed
from .host import HostPiece, constants_of, watched
from .lowering import lowered
from .operations import Array
from .products import asked_of_engine
from .report import InferenceReport, StepReport, differing
from .runtime import Session
from .steps import EngineStep, HostStep, cut

__all__ = ["EngineSession"]


class EngineSession:
    """The ONNX model in the file `model`, quantized in any way that onnxruntime has.

    Every product of 8-bit integers that it has runs on an engine of `config` under `simulator`, everything else in
    onnxruntime; each product is compared with golden and with onnxruntime, and so are the outputs. `only` names the
    products for the engine, and leaves the others to onnxruntime. `stalls` is the probability of a pause in a cycle, on
    each stream; `progress` is called with what is going on.

    Raises InputError for a model that onnxruntime does not take, or that has no product for the engine.

    >>> session = EngineSession("model.onnx", EngineConfig(rows=16, cols=16))
    >>> logits, = session.run(None, {"x": images})
    >>> session.report.check().cycles
    """

    def __init__(
        self,
        model: str | Path,
        config: EngineConfig | None = None,
        *,
        only: Collection[str] | None = None,
        simulator: SimulatorName = "verilator",
        stalls: float = 0.0,
        seed: int = 0,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        path = Path(model)
        self.config = config or EngineConfig()
        self.tensors: dict[str, Array] = {}
        self._report: InferenceReport | None = None
        self._stalls, self._seed = stalls, seed
        self._progress = progress or (lambda text: None)
        self._engine = Engine(self.config, simulator=simulator, progress=self._progress)
        self._progress("onnxruntime's graph")
        graph = lowered(path)
        self._steps = cut(Graph(graph, path.parent), only)
        self._host = {
            name: why for step in self._steps if isinstance(step, HostStep) for name, why in step.products.items()
        }
        engine = [step for step in self._steps if isinstance(step, EngineStep)]
        if not engine:
            listed = "; ".join(f"{operator} {name!r}: {why}" for name, (operator, why) in [*self._host.items()][:5])
            raise InputError(f"{model}: must have a product of 8-bit integers, and has {listed or 'no product'}")
        self._pieces = {step: HostPiece(graph, step) for step in self._steps if isinstance(step, HostStep)}
        self._whole = Session(str(path), str(path))
        self._crossing = _crossing(self._steps)
        self._watched = Session(watched(graph, self._crossing), str(path), as_it_is=True)
        taken = {name for step in engine for name in step.node.input} | {each.name for each in self._whole.outputs}
        self._constants = constants_of(graph, taken)

    def get_inputs(self) -> list[Any]:
        """As InferenceSession's: name, shape and type of each."""
        return self._whole.inputs

    def get_outputs(self) -> list[Any]:
        """As InferenceSession's."""
        return self._whole.outputs

    @property
    def report(self) -> InferenceReport:
        """How the last `run` went; a RuntimeError before the first."""
        if self._report is None:
            raise RuntimeError("there is no report before the first run")
        return self._report

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, npt.ArrayLike]) -> list[Array]:
        """The outputs of these names, all for None, for the inputs by name; `report` then says how it went.

        `tensors` has every tensor that went from step to step, by onnxruntime's name.
        """
        outputs = [each.name for each in self.get_outputs()]
        names = outputs if output_names is None else list(output_names)
        if unknown := [name for name in names if name not in outputs]:
            raise InputError(f"outputs must be among {', '.join(outputs)}, not {unknown[0]!r}")
        feed = checked_feed(self.get_inputs(), input_feed)
        self._progress("onnxruntime")
        ends, expected = self._whole.run(outputs, feed), self._watched.run(self._crossing, feed)
        tensors, reports = self._constants | feed, []
        for place, step in enumerate(self._steps, 1):
            if isinstance(step, HostStep):
                tensors |= self._pieces[step].run(tensors)
            else:
                self._progress(f"step {place} of {len(self._steps)}: {step.node.op_type} {step.name}")
                reports.append(self._product(step, tensors, expected))
        self.tensors = {name: tensors[name] for name in self._crossing}
        differ = {name: (int(array.size), differing(tensors[name], array)) for name, array in ends.items()}
        self._report = InferenceReport(steps=tuple(reports), host=self._host, outputs=differ)
        return [tensors[name] for name in names]

    def _product(self, step: EngineStep, tensors: dict[str, Array], expected: Mapping[str, Array]) -> StepReport:
        """Run a step on the engine; its output goes to `tensors`."""
        asked = asked_of_engine(step.node, tensors)
        plans = [operation.plan(self.config) for operation in asked.operations]
        results = self._engine.run(plans, stalls=(self._stalls,) * 3, seed=self._seed)
        y, name = asked.finish([result.y for result in results]), step.node.output[0]
        tensors[name] = y
        jobs = [report for result in results for report in result.reports]
        return StepReport.of(step.name, step.node.op_type, asked, jobs, y, expected[name])


def _crossing(steps: Sequence[EngineStep | HostStep]) -> list[str]:
    """The tensors that steps make for one another, and the model's outputs."""
    return [name for step in steps for name in (step.outputs if isinstance(step, HostStep) else step.node.output[:1])]
