"""Simulation of one operation of the user's on the engine's Verilog, compared with golden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Plan
from systoliq.sim.engine import Engine
from systoliq.sim.runner import SimulatorName

from ...errors import InputError
from ..operands import read_operand_file
from ..simulated import Simulated
from .facts import config_facts, macs_per_cycle

__all__ = ["compared", "plan_of", "read_operation", "run_engine"]

_QLINEAR = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
_INTEGER = ("a", "b", "a_zero_point", "b_zero_point")
_SHOWN = 10  # mismatches


def read_operation(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The inputs of a QLinearMatMul, or, without scales, of a MatMulInteger; other arrays are ignored."""
    arrays = read_operand_file(path)
    has_scales = any(name in arrays for name in ("a_scale", "b_scale", "y_scale", "y_zero_point"))
    for name in _QLINEAR if has_scales else ("a", "b"):
        if name not in arrays:
            why = "for a QLinearMatMul; without scales and y_zero_point it is a MatMulInteger" if has_scales else ""
            raise InputError(
                f"{path}: must have the key {name!r}{' ' * bool(why)}{why}; it has {', '.join(arrays) or 'none'}"
            )
    return {name: arrays[name] for name in (_QLINEAR if has_scales else _INTEGER) if name in arrays}


def run_engine(
    name: str,
    config: EngineConfig,
    operation: dict[str, npt.NDArray[Any]],
    expected: npt.NDArray[Any],
    *,
    simulator: SimulatorName,
    stalls: float = 0.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Simulated:
    """Run `operation`, its inputs by name, on the engine `name`.

    `stalls` is the probability of a pause on each stream.
    """
    engine = Engine(config, simulator=simulator, progress=progress)
    (result,) = engine.run([plan_of(engine, operation)], stalls=(stalls,) * 3, seed=seed)
    reports = result.reports
    cycles, macs = sum(each.cycles for each in reports), sum(each.shape.macs for each in reports)
    report = compared(name, operation, result.y, expected) | {
        "simulator": simulator,
        "cycles": cycles,
        "model_cycles": sum(each.model_cycles for each in reports),
        "macs": macs,
        "utilization": macs / (cycles * macs_per_cycle(config)) if cycles else 0.0,
        "seconds": round(sum(each.seconds for each in reports), 3),
        "simulated_cycles": sum(each.simulated_cycles for each in reports),
        "stalls": stalls,
        "jobs": [
            {
                "m": each.shape.m,
                "k": each.shape.k,
                "n": each.shape.n,
                "cycles": each.cycles,
                "model_cycles": each.model_cycles,
                "utilization": each.utilization,
                "input_stalls": each.input_stalls,
                "output_stalls": each.output_stalls,
            }
            for each in reports
        ],
        "engine": config_facts(config),
    }
    return Simulated(y=result.y, report=report, passed=not report["mismatches"])


def compared(
    name: str, operation: dict[str, npt.NDArray[Any]], y: npt.NDArray[Any], expected: npt.NDArray[Any]
) -> dict[str, Any]:
    """The report's part about results: how many are there, and which are wrong."""
    found, right = (np.atleast_1d(_codes(each)) for each in (y, expected))
    wrong = np.argwhere(found != right)
    return {
        "name": name,
        "operator": "QLinearMatMul" if _is_qlinear(operation) else "MatMulInteger",
        "outputs": int(expected.size),
        "mismatches": len(wrong),
        "violations": [],
        "first_mismatches": [
            f"y{at.tolist()}: expected {right[tuple(at)]}, got {found[tuple(at)]}" for at in wrong[:_SHOWN]
        ],
    }


def _codes(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Results that can be compared: integers, or the codes of float8."""
    return y if Float8Format.of(y.dtype) is None else y.view(np.uint8)


def plan_of(engine: Engine, operation: dict[str, npt.NDArray[Any]]) -> Plan:
    """The jobs of the operation that `operation` has the inputs of."""
    if _is_qlinear(operation):
        return engine.plan_qlinear_matmul(*(operation[name] for name in _QLINEAR))
    return engine.plan_matmul_integer(*(operation.get(name) for name in _INTEGER))


def _is_qlinear(operation: dict[str, npt.NDArray[Any]]) -> bool:
    return "y_scale" in operation
