"""A cosimulation's result for designs of layers and arrays, whose streams share one bench."""

from __future__ import annotations

from typing import Any

from systoliq.hw import ArrayConfig
from systoliq.sim.cosimulation import CosimulationResult

from .simulated import Simulated

__all__ = ["cosimulated"]


def cosimulated(
    name: str, config: ArrayConfig, result: CosimulationResult, *, stalls: float, netlist: str | None,
    facts: dict[str, Any],
) -> Simulated:  # fmt: skip
    """Y, and the report of `result`; `facts` are the kind's own."""
    report = {
        "name": name,
        "simulator": result.simulator,
        "outputs": int(result.expected.size),
        "mismatches": result.mismatches,
        "violations": list(result.violations),
        "first_mismatches": [str(mismatch) for mismatch in result.details[:10]],
        "cycles": result.cycles,
        "macs": result.macs,
        "utilization": result.utilization,
        "seconds": round(result.seconds, 3),
        "simulated_cycles": result.simulated_cycles,
        "stalls": stalls,
        "array": {
            "rows": config.rows,
            "cols": config.cols,
            "depth": config.depth,
            "accumulator_bits": config.accumulator_bits,
            "cells": config.cells,
        },
    }
    return Simulated(y=result.y, report=report | facts | {"netlist": netlist}, passed=result.passed)
