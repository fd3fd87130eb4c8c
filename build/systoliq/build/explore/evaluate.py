"""Evaluation: what a point costs and gives, stage by stage. These functions run in worker processes.

model       cycles, utilization, bandwidth, accuracy, exactness      milliseconds
synthesis   LUT sites, flip-flops, DSPs, memories                    seconds
place       frequency over seeds                                     minutes
cosimulation  the Verilog on real input against golden, its cycles against the model
"""

from __future__ import annotations

import functools
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from amaranth.hdl import UnusedElaboratable

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.golden.thresholds import count_differences
from systoliq.sim.cosimulation import cosimulate
from systoliq.sim.runner import SimulatorName

from ..design import Hardware, LayerDesign
from ..design.choose import choose_requantization, reachable
from .space import Point
from .subject import Subject
from .synthesizer import Synthesizer

__all__ = ["STAGES", "Finding", "Settings", "Task", "design_at", "run_task"]

STAGES = ("model", "synthesis", "place", "cosimulation")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What all points share: rows of a batch, seeds of place and route, the simulator, and the tool for area."""

    batch: int = 64
    seeds: int = 3
    simulator: SimulatorName = "verilator"
    synthesizer: Synthesizer


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """Points to take through one stage, in one go."""

    stage: str
    points: tuple[Point, ...]
    subject: Subject
    subject_key: str
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a stage found for a point.

    `status` is "done", "impossible" (such a design cannot be: the reason says why) or "failed" (a tool or a process
    did, which another run may not see). Only the first two are worth keeping.
    """

    status: str
    values: dict[str, Any]
    reason: str = ""
    seconds: float = 0.0


def run_task(task: Task) -> list[Finding]:
    """A finding for each point; no error of a point gets out."""
    warnings.simplefilter("ignore", UnusedElaboratable)  # the cycle model is asked for, and no Verilog
    if task.subject_key not in _subjects:
        _subjects.clear()
    subject = _subjects.setdefault(task.subject_key, task.subject)
    return [_finding(task, subject, point) for point in task.points]


_subjects: dict[str, Subject] = {}  # one object for all tasks of a process, so that what is cached by it is found again


def _finding(task: Task, subject: Subject, point: Point) -> Finding:
    started = time.perf_counter()
    stages: dict[str, Callable[[Subject, Point, Settings], dict[str, Any]]] = {
        "model": _model, "synthesis": _synthesis, "place": _place, "cosimulation": _cosimulation
    }  # fmt: skip
    try:
        values = stages[task.stage](subject, point, task.settings)
    except (ValueError, TypeError) as error:
        return Finding(status="impossible", values={}, reason=_one_line(error), seconds=time.perf_counter() - started)
    except MemoryError:
        return Finding(status="failed", values={}, reason=f"{task.stage}: the memory limit was reached")
    except Exception as error:  # noqa: BLE001 - whatever a tool does, the other points go on
        detail = _one_line(error) or traceback.format_exc(limit=1).splitlines()[-1]
        return Finding(status="failed", values={}, reason=f"{task.stage}: {detail}")
    return Finding(status="done", values=values, seconds=time.perf_counter() - started)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


@functools.lru_cache(maxsize=64)
def _layer(subject: Subject, a_bits: int, b_bits: int) -> MatMulLayer:
    return subject.at(a_bits, b_bits)


def hardware_at(point: Point) -> Hardware:
    """The options of `systoliq emit` for a point's design."""
    return Hardware(
        rows=point.rows,
        cols=point.cols,
        depth=point.depth,
        a_bits=point.a_bits,
        b_bits=point.b_bits,
        accumulator_bits="auto",
        requantizer=point.requantizer,
        multiplier_bits=point.requantizer_bits or None,
        cells=point.hardware_cells,
    )


def design_at(subject: Subject, point: Point) -> LayerDesign:
    """The design of a point; a ValueError where there can be none."""
    layer = _layer(subject, point.a_bits, point.b_bits)
    constants = _requantization(subject, point)
    return LayerDesign(layer, hardware_at(point), origin=subject.origin, requantization=constants)


def _requantization(subject: Subject, point: Point) -> Requantization:
    return _cached_requantization(subject, point.a_bits, point.b_bits, point.requantizer, point.requantizer_bits)


@functools.lru_cache(maxsize=512)
def _cached_requantization(subject: Subject, a_bits: int, b_bits: int, form: str, bits: int) -> Requantization:
    layer = _layer(subject, a_bits, b_bits)
    return choose_requantization(layer, form, multiplier_bits=bits or None).requantization


@functools.lru_cache(maxsize=512)
def _quality(subject: Subject, a_bits: int, b_bits: int, form: str, bits: int) -> dict[str, Any]:
    """Accuracy and exactness: they depend on the widths and the requantizer alone."""
    layer = _layer(subject, a_bits, b_bits)
    requantization = _cached_requantization(subject, a_bits, b_bits, form, bits)
    y = requantization.apply(layer.rising.accumulate(subject.operands(layer)))
    low, high = reachable(layer)
    differing = count_differences(requantization, layer.rising.scale, low, high)
    total = int((high - low + 1).sum())
    return {
        **subject.score(layer, y),
        "inexact": int(differing.sum()),
        "reachable": total,
        "inexact_share": int(differing.sum()) / total,
        "multiplier_bits": requantization.multiplier_bits,
    }


def _model(subject: Subject, point: Point, settings: Settings) -> dict[str, Any]:
    dense = design_at(subject, point).dense
    layer, config, schedule, batch = dense.layer, dense.config, dense.schedule, settings.batch
    cycles = dense.cycles(batch)
    io_bits = batch * (layer.k * layer.a_format.bits + layer.n * layer.y_format.bits)
    lanes = schedule.lanes
    quality = _quality(subject, point.a_bits, point.b_bits, point.requantizer, point.requantizer_bits)
    multipliers = config.macs_per_cycle * layer.a_format.bits * config.b.bits
    accumulators = config.rows * config.cols * config.accumulator_bits
    return {
        "macs_per_cycle": config.macs_per_cycle,
        "accumulator_bits": config.accumulator_bits,
        "lanes": lanes,
        "latency_cycles": dense.cycles(1),
        "cycles": cycles,
        "cycles_per_inference": cycles / batch,
        "utilization": schedule.utilization(batch, cycles),
        "io_bits_per_cycle": io_bits / cycles,
        "weight_bits_per_cycle": config.cols * config.depth * config.b.bits,
        "bit_products": multipliers + accumulators + lanes * quality["multiplier_bits"] * dense.sum_bits,
        **quality,
    }


def _synthesis(subject: Subject, point: Point, settings: Settings) -> dict[str, Any]:
    return settings.synthesizer.area(design_at(subject, point), point.target)


def _place(subject: Subject, point: Point, settings: Settings) -> dict[str, Any]:
    return settings.synthesizer.frequency(design_at(subject, point), point.target, settings.seeds)


def _cosimulation(subject: Subject, point: Point, settings: Settings) -> dict[str, Any]:
    design = design_at(subject, point)
    a = subject.operands(design.layer, settings.batch)
    result = cosimulate(design.dense, a, simulator=settings.simulator)
    model = design.dense.cycles(len(a))
    return {
        "cosim_rows": len(a),
        "cosim_cycles": result.cycles,
        "cosim_mismatches": result.mismatches + len(result.violations),
        "cosim_float32_mismatches": int(np.count_nonzero(result.y != design.layer.golden(a))),
        "cosim": "equal" if result.passed and result.cycles == model else "differs",
    }
