"""Backends of an inference: an engine with streams, or a DMA engine, under a simulator."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.engine.memory import EngineMemory
from systoliq.sim.runner import SimulatorName

from .division import Division
from .lowering import Lowered
from .operations import Array, Asked
from .program import Product, Program, VectorInMemory, bytes_of_bus, compile_model, play, play_vector
from .report import Figures
from .steps import EngineStep, VectorStep

__all__ = ["Backend", "MemoryBackend", "SimulationOptions", "StreamBackend"]


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """Parameters of an engine's simulation; `stalls` is the probability of a pause in a cycle."""

    simulator: SimulatorName
    stalls: float
    seed: int
    progress: Callable[[str], None]


class Backend(Protocol):
    """An engine for the products of a model."""

    def ready(self, feed: Mapping[str, Array]) -> AbstractContextManager[Division]:
        """Ready for a run with these inputs, until the block ends; gives the steps for them."""

    def product(self, step: EngineStep, asked: Asked) -> tuple[Array, Figures]:
        """The result of `step` for the operands in `asked`, and its figures."""

    def vector(self, step: VectorStep, given: list[Array]) -> tuple[Array, Array, Figures]:
        """The result of `step` for the tensors `given`, the one of golden, and its figures."""


class StreamBackend(Backend):
    """The engine with streams of `config`; a simulator for each product."""

    def __init__(self, division: Division, config: EngineConfig, options: SimulationOptions) -> None:
        self._division, self._config, self._options = division, config, options
        self._engine = Engine(config, simulator=options.simulator, progress=options.progress)

    @contextmanager
    def ready(self, feed: Mapping[str, Array]) -> Iterator[Division]:
        yield self._division

    def product(self, step: EngineStep, asked: Asked) -> tuple[Array, Figures]:
        plans = [operation.plan(self._config) for operation in asked.operations]
        results = self._engine.run(plans, stalls=(self._options.stalls,) * 3, seed=self._options.seed)
        reports = [report for result in results for report in result.reports]
        config = self._config
        figures = Figures(
            jobs=len(reports),
            cycles=sum(report.cycles for report in reports),
            model_cycles=sum(report.model_cycles for report in reports),
            bytes={
                "a": sum(report.shape.a_words for report in reports) * config.rows * config.depth,
                "b": sum(report.shape.b_words for report in reports) * config.cols * config.depth,
                "y": sum(each.shape[0] * each.shape[2] * each.bytes_of_y for each in asked.operations),
            },
            seconds=round(sum(report.seconds for report in reports), 3),
        )
        return asked.finish([result.y for result in results]), figures

    def vector(self, step: VectorStep, given: list[Array]) -> tuple[Array, Array, Figures]:
        """See `Backend`; there is no vector unit without a memory."""
        raise RuntimeError(f"{step.name} is for a vector unit, and this engine has none")


class MemoryBackend(Backend):
    """The DMA engine of `config` over `bus` bits; a simulator for a run."""

    def __init__(
        self,
        model: Lowered,
        config: EngineConfig,
        options: SimulationOptions,
        *,
        bus: int,
        only: Collection[str] | None = None,
    ) -> None:
        self._model, self._config, self._options, self._only = model, config, options, only
        self._engine = SimulatedDmaEngine(config, bus_bytes=bytes_of_bus(config, bus), simulator=options.simulator)
        self._compiled: tuple[Program, Division] | None = None
        self._products: dict[str, Product] = {}  # by the tensor that it makes: a compiled model has steps of its own
        self._vectors: dict[VectorStep, VectorInMemory] = {}
        self._memory: EngineMemory | None = None

    @contextmanager
    def ready(self, feed: Mapping[str, Array]) -> Iterator[Division]:
        """See `Backend`; the model is compiled again if the shapes of `feed` differ from the last run's."""
        shapes = {name: (array.dtype.name, array.shape) for name, array in feed.items()}
        if self._compiled is None or self._compiled[0].inputs != shapes:
            self._options.progress("compiling")
            self._compiled = compile_model(
                self._model, self._config, feed, bus_bytes=self._engine.bus_bytes, only=self._only
            )
        program, division = self._compiled
        self._products = {product.sketch.step.node.output[0]: product for product in program.products}
        self._vectors = {each.sketch.step: each for each in program.vectors}
        self._options.progress("building the simulation")
        memory = EngineMemory(self._engine, program.memory, stalls=self._options.stalls, seed=self._options.seed)
        with memory as self._memory:
            yield division

    def product(self, step: EngineStep, asked: Asked) -> tuple[Array, Figures]:
        if self._memory is None:
            raise RuntimeError("there is no memory before the engine is ready")
        product, begun = self._products[step.node.output[0]], time.monotonic()
        y, played = play(product, asked, self._memory, self._config)
        figures = Figures(
            jobs=product.jobs,
            cycles=sum(each.cycles for each in played),
            bytes=product.bytes,
            beats={port: sum(each.beats[port] for each in played) for port in played[0].beats},
            seconds=round(time.monotonic() - begun, 3),
        )
        return y, figures

    def vector(self, step: VectorStep, given: list[Array]) -> tuple[Array, Array, Figures]:
        if self._memory is None:
            raise RuntimeError("there is no memory before the engine is ready")
        found, begun = self._vectors[step], time.monotonic()
        y, played = play_vector(found, given, self._memory)
        figures = Figures(
            jobs=0,
            cycles=played.cycles,
            bytes=found.bytes,
            beats=played.beats,
            seconds=round(time.monotonic() - begun, 3),
        )
        return y, found.sketch.work.apply(*given), figures
