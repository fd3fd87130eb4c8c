"""Simulation of one operation of the user's on the engine's Verilog, compared with golden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.hw.engine import EngineConfig, JobShape
from systoliq.hw.engine.host import Plan
from systoliq.sim.engine import Engine
from systoliq.sim.runner import SimulatorName
from systoliq.sim.simulated import Compared, Simulated

from ...errors import InputError
from ..operands import read_operand_file
from .facts import config_facts

__all__ = ["plan_of", "read_operation", "run_engine", "simulated"]

_QLINEAR = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
_INTEGER = ("a", "b", "a_zero_point", "b_zero_point")


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
    operation: Mapping[str, npt.NDArray[Any]],
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
    facts = {
        "model_cycles": sum(each.model_cycles for each in reports),
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
    return simulated(
        name, config, operation, (result.y, expected), simulator=simulator, shapes=[each.shape for each in reports],
        cycles=sum(each.cycles for each in reports), seconds=sum(each.seconds for each in reports),
    ).with_facts(**facts)  # fmt: skip


def simulated(
    name: str,
    config: EngineConfig,
    operation: Mapping[str, npt.NDArray[Any]],
    y: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    *,
    simulator: SimulatorName,
    shapes: Sequence[JobShape],
    cycles: int,
    seconds: float,
) -> Simulated:
    """Return the result of `operation` on the engine `name`; `y` is the hardware's result and the expected one."""
    found, expected = (np.atleast_1d(_codes(each)) for each in y)
    place = f"y[{', '.join(['{}'] * found.ndim)}]"
    macs = sum(shape.macs for shape in shapes)
    return Simulated(
        outputs={"y": y[0]},
        tensors={"y": Compared(found=found, expected=expected, place=place)},
        cycles=cycles,
        macs=macs,
        utilization=macs / (cycles * config.macs_per_cycle) if cycles else 0.0,
        seconds=seconds,
        simulator=simulator,
        name=name,
        facts={"operator": "QLinearMatMul" if _is_qlinear(operation) else "MatMulInteger"},
    )


def _codes(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Results that can be compared: integers, or the codes of float8."""
    return y if Float8Format.of(y.dtype) is None else y.view(np.uint8)


def plan_of(engine: Engine, operation: Mapping[str, npt.NDArray[Any]]) -> Plan:
    """The jobs of the operation that `operation` has the inputs of."""
    if _is_qlinear(operation):
        return engine.plan_qlinear_matmul(*(operation[name] for name in _QLINEAR))
    return engine.plan_matmul_integer(*(operation.get(name) for name in _INTEGER))


def _is_qlinear(operation: Mapping[str, npt.NDArray[Any]]) -> bool:
    return "y_scale" in operation
