"""The DMA engine as a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy.typing as npt

from systoliq.hw.dma.dma_engine import DmaEngine, check
from systoliq.hw.engine import AxiEngine, EngineConfig
from systoliq.hw.hierarchy import mark_used
from systoliq.sim.runner import SimulatorName
from systoliq.sim.simulated import Simulated

from ...errors import InputError, expect
from ..engine import EngineDesign
from ..engine.options import EngineOptions
from .meanings import MEANINGS
from .simulate import run_dma_engine

__all__ = ["BUS_BITS", "DmaEngineDesign"]

BUS_BITS = 128  # of the masters of an `EngineConfig` that comes without


class DmaEngineDesign(EngineDesign):
    """The engine that `hardware` asks for, or of an `EngineConfig` as it is, behind masters of `bus` bits."""

    kind: ClassVar[str] = "dma_engine"
    meanings: ClassVar[Mapping[str, str]] = MEANINGS

    def __init__(
        self, hardware: EngineOptions | EngineConfig | None = None, *, name: str | None = None, bus: int | None = None
    ) -> None:
        expect("bus", bus, int, type(None))
        asked = hardware.bus if isinstance(hardware, EngineOptions) else None
        super().__init__(hardware, name=name)
        self.bus = bus or asked or BUS_BITS
        if self.bus % 8 or self.bus < 8:
            raise InputError(f"bus must be 32, 64 or 128 bits, not {self.bus}")
        check(self.config, self.bus // 8)

    @cached_property
    def top(self) -> DmaEngine:
        """The module with AXI4 masters and an AXI4-Lite port."""
        top = DmaEngine(self.config, bus_bytes=self.bus // 8)
        mark_used(top)
        return top

    @property
    def engine(self) -> AxiEngine:
        """The engine behind the masters."""
        return self.top.engine

    @property
    def notes(self) -> list[str]:
        """None: its buses are standard."""
        return []

    def _run(
        self,
        operation: Mapping[str, npt.NDArray[Any]],
        simulator: SimulatorName,
        stalls: float,
        seed: int,
        progress: Callable[[str], None] | None,
    ) -> Simulated:
        return run_dma_engine(
            self.name, self.config, self.bus, operation, self.model(**operation), simulator=simulator, stalls=stalls,
            seed=seed,
        )  # fmt: skip
