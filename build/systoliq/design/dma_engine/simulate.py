"""Simulation of one operation of the user's from memory to memory, compared with golden."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from systoliq.sim.dma_exchange import PORTS
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.runner import SimulatorName

from ..engine.facts import config_facts
from ..engine.simulate import compared, plan_of
from ..simulated import Simulated

if TYPE_CHECKING:
    from .design import DmaEngineDesign

__all__ = ["run_dma_engine"]


def run_dma_engine(
    design: DmaEngineDesign,
    operation: dict[str, npt.NDArray[Any]],
    expected: npt.NDArray[Any],
    *,
    simulator: SimulatorName,
    stalls: float = 0.0,
    seed: int = 0,
) -> Simulated:
    """Run the operation that `operation` has the inputs of; `stalls` is the probability of a pause on each channel."""
    hardware = SimulatedDmaEngine(design.config, bus_bytes=design.top.bus_bytes, simulator=simulator)
    plan, reports, begun = plan_of(Engine(design.config), operation), [], time.monotonic()
    while True:
        results, went = hardware.run(plan.jobs, seed=seed, stalls=(stalls,) * len(PORTS))
        reports.append(went)
        y = plan.assemble(results)
        if plan.then is None:
            break
        plan = plan.then(y)
    cycles, shapes = sum(each.cycles for each in reports), [shape for each in reports for shape in each.shapes]
    macs = sum(shape.macs for shape in shapes)
    report = compared(design.name, operation, y, expected) | {
        "simulator": simulator,
        "cycles": cycles,
        "busy_cycles": sum(each.busy_cycles for each in reports),
        "macs": macs,
        "utilization": macs / (cycles * design.macs_per_cycle) if cycles else 0.0,
        "seconds": round(time.monotonic() - begun, 3),
        "stalls": stalls,
        "beats": {port: sum(each.beats[port] for each in reports) for port in reports[0].beats},
        "jobs": [{"m": shape.m, "k": shape.k, "n": shape.n} for shape in shapes],
        "engine": config_facts(design.config) | {"bus_bits": design.bus},
    }
    return Simulated(y=y, report=report, passed=not report["mismatches"])
