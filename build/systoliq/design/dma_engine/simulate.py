"""Simulation of one operation of the user's from memory to memory, compared with golden."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from systoliq.hw.engine import EngineConfig
from systoliq.sim.dma_exchange import PORTS
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.runner import SimulatorName
from systoliq.sim.simulated import Simulated

from ..engine.facts import config_facts
from ..engine.simulate import plan_of, simulated

__all__ = ["run_dma_engine"]


def run_dma_engine(
    name: str,
    config: EngineConfig,
    bus: int,
    operation: Mapping[str, npt.NDArray[Any]],
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
    shapes = [shape for each in reports for shape in each.shapes]
    return simulated(
        name, config, operation, (y, expected), simulator=simulator, shapes=shapes,
        cycles=sum(each.cycles for each in reports), seconds=time.monotonic() - begun,
    ).with_facts(
        busy_cycles=sum(each.busy_cycles for each in reports),
        stalls=stalls,
        beats={port: sum(each.beats[port] for each in reports) for port in reports[0].beats},
        jobs=[{"m": shape.m, "k": shape.k, "n": shape.n} for shape in shapes],
        engine=config_facts(config) | {"bus_bits": bus},
    )  # fmt: skip
