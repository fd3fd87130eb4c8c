"""Settings that all points of an exploration share."""

from __future__ import annotations

from dataclasses import dataclass

from systoliq.sim.runner import SimulatorName

from ..synthesizer import Synthesizer

__all__ = ["Settings"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Rows of a batch, seeds of place and route, the simulator, and the tool for area."""

    batch: int = 64
    seeds: int = 3
    simulator: SimulatorName = "verilator"
    synthesizer: Synthesizer
