"""Simulation of one operation of the user's from memory to memory, compared with golden."""

from __future__ import annotations

import time
from typing import Any

import numpy.typing as npt

from systoliq.hw.engine import EngineConfig
from systoliq.sim.dma_exchange import PORTS
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.runner import SimulatorName

from ..engine.facts import config_facts, macs_per_cycle
from ..engine.simulate import compared, plan_of
from ..simulated import Simulated

__all__ = ["run_dma_engine"]


def run_dma_engine(
    name: str,
    config: EngineConfig,
    bus: int,
    operation: dict[str, npt.NDArray[Any]],
    expected: npt.NDArray[Any],
    *,
    simulator: SimulatorName,
    stalls: float = 0.0,
    seed: int = 0,
) -> Simulated:
    """Run `operation`, its inputs by name, on the engine `name` behind masters of `bus` bits.

    `stalls` is the probability of a pause on each channel.
    """
    hardware = SimulatedDmaEngine(config, bus_bytes=bus // 8, simulator=simulator)
    plan, reports, begun = plan_of(Engine(config), operation), [], time.monotonic()
    while True:
        results, went = hardware.run(plan.jobs, seed=seed, stalls=(stalls,) * len(PORTS))
        reports.append(went)
        y = plan.assemble(results)
        if plan.then is None:
            break
        plan = plan.then(y)
    cycles, shapes = sum(each.cycles for each in reports), [shape for each in reports for shape in each.shapes]
    macs = sum(shape.macs for shape in shapes)
    report = compared(name, operation, y, expected) | {
        "simulator": simulator,
        "cycles": cycles,
        "busy_cycles": sum(each.busy_cycles for each in reports),
        "macs": macs,
        "utilization": macs / (cycles * macs_per_cycle(config)) if cycles else 0.0,
        "seconds": round(time.monotonic() - begun, 3),
        "stalls": stalls,
        "beats": {port: sum(each.beats[port] for each in reports) for port in reports[0].beats},
        "jobs": [{"m": shape.m, "k": shape.k, "n": shape.n} for shape in shapes],
        "engine": config_facts(config) | {"bus_bits": bus},
    }
    return Simulated(y=y, report=report, passed=not report["mismatches"])
