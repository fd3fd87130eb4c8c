"""The programmable engine as a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy.typing as npt

from systoliq.golden import matmul_integer, qlinear_matmul
from systoliq.hw.engine import AxiEngine, EngineConfig, JobShape
from systoliq.hw.hierarchy import mark_used
from systoliq.sim.choice import SimulatorChoice, chosen_for_engine
from systoliq.sim.runner import SimulatorName
from systoliq.sim.simulated import Simulated

from ...errors import InputError, expect
from ..check_run import check_run
from ..choose import AUTO
from ..design import Arrays
from ..names import module_name
from ..single_array import SingleArrayDesign
from .configuration import engine_config, is_left_to_part
from .facts import stream_notes
from .largest import reason
from .meanings import MEANINGS
from .options import EngineOptions
from .simulate import read_operation, run_engine

__all__ = ["EngineDesign"]


class EngineDesign(SingleArrayDesign):
    """The programmable engine for `hardware` or for an `EngineConfig`."""

    kind: ClassVar[str] = "engine"
    meanings: ClassVar[Mapping[str, str]] = MEANINGS

    def __init__(self, hardware: EngineOptions | EngineConfig | None = None, *, name: str | None = None) -> None:
        expect("hardware", hardware, EngineOptions, EngineConfig, type(None))
        hardware = hardware or EngineOptions()
        self.name = module_name(name, "engine")
        self.config: EngineConfig = hardware if isinstance(hardware, EngineConfig) else engine_config(hardware)
        if self.kind == EngineDesign.kind and self.config.vector:
            raise InputError("vector requires bus: the vector unit reads and writes memory")
        self._choices = _choices(hardware, self.config) if isinstance(hardware, EngineOptions) else []

    @cached_property
    def top(self) -> AxiEngine:
        """The module with AXI4-Lite and AXI4-Stream ports."""
        top = AxiEngine(self.config)
        mark_used(top)  # for its cycle model alone, as long as no Verilog is asked for
        return top

    @property
    def engine(self) -> AxiEngine:
        """The engine itself: `top`, if nothing is around it."""
        return self.top

    @property
    def explored(self) -> EngineConfig:
        return self.config

    @property
    def choices(self) -> list[str]:
        """The dataflow, and the sizes for a part, where they were left to systoliq."""
        return list(self._choices)

    @property
    def notes(self) -> list[str]:
        """Streams that ordinary AXI DMAs do not take."""
        return stream_notes(self.config)

    def model(self, **operation: npt.ArrayLike) -> npt.NDArray[Any]:
        """The result for inputs of a QLinearMatMul by name, or, without `y_scale`, of a MatMulInteger."""
        is_qlinear = "y_scale" in operation
        return qlinear_matmul(**operation) if is_qlinear else matmul_integer(**operation)

    def cycles(self, m: int, k: int, n: int) -> int:
        """Cycles of a job [m, k] x [k, n] by the cycle model; the register BUSY_CYCLES counts the same."""
        cycles: int = self.engine.cycles(JobShape(m=m, k=k, n=n, config=self.config))
        return cycles

    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """All that an operation takes, from an .npz archive: see `model`."""
        if quantize:
            raise InputError("quantize cannot be used with the source engine: it takes operands as they are")
        return read_operation(path)

    def simulate(
        self,
        *,
        simulator: SimulatorChoice = "auto",
        stalls: float = 0.0,
        seed: int = 0,
        waves: Path | None = None,
        netlist: str | None = None,
        progress: Callable[[str], None] | None = None,
        **operation: npt.NDArray[Any],
    ) -> Simulated:
        """Run an operation, its inputs by name as for `model`, and compare with golden; see `Design.simulate`."""
        self.refuse_traces(simulator, stalls, waves, netlist)
        return self._run(operation, chosen_for_engine(simulator), stalls, seed, progress)

    def _run(
        self,
        operation: Mapping[str, npt.NDArray[Any]],
        simulator: SimulatorName,
        stalls: float,
        seed: int,
        progress: Callable[[str], None] | None,
    ) -> Simulated:
        return run_engine(
            self.name, self.config, operation, self.model(**operation), simulator=simulator, stalls=stalls, seed=seed,
            progress=progress,
        )  # fmt: skip

    def refuse_traces(self, simulator: SimulatorChoice, stalls: float, waves: Path | None, netlist: str | None) -> None:
        """Raise InputError for options that its simulation does not have."""
        for option, value in (("waves", waves), ("netlist", netlist)):
            if value is not None:
                raise InputError(f"{option} cannot be used with the source engine: its simulation has none")
        check_run(simulator, stalls, waves)


def _choices(hardware: EngineOptions, config: EngineConfig) -> list[str]:
    """A line for each thing that was left to systoliq."""
    if hardware.part is not None and is_left_to_part(hardware):
        return [reason(config, hardware.bus, hardware.part)]
    return [f"dataflow: {config.dataflow}"] if hardware.dataflow == AUTO else []
