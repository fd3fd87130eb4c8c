"""The table: one row for each point, its axes first, then the results of every stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError, need
from ..finding import Finding
from ..pareto import OBJECTIVES
from .evaluate import STAGES
from .row import Row
from .space import Point
from .subjects.subject import Subject

__all__ = ["COLUMNS", "TEXTS", "Row", "columns_of", "costs", "frame", "objective_columns", "row"]

# Column -> unit and meaning; the order is that of the files. A kind of subject has some of them: see `columns_of`.
COLUMNS = {
    "status": "done, impossible or failed",
    "reason": "why, where not done",
    "stage": "the deepest stage that was run",
    "front": "on the Pareto front of its target",
    "rows": "of the array",
    "cols": "of the array",
    "depth": "pairs that an element multiplies in a cycle",
    "a_bits": "width of the activations",
    "b_bits": "width of the weights",
    "requantizer": "rounding",
    "requantizer_bits": "width asked for the multiplier of the requantizer; 0: auto",
    "multiplier_bits": "width of the widest multiplier of the requantizer",
    "lanes": "requantizers",
    "a_words": "words of A's buffer",
    "b_words": "words of B's buffer",
    "max_columns": "N of a job at the most",
    "max_rows": "M of a job with a zero point per row at the most",
    "dataflow": "what stays in the array",
    "bus": "bits of the AXI4 masters; 0: streams",
    "multipliers": "multiplier cells of the network's plan",
    "cells": "kind of multiplier cells",
    "target": "device",
    "macs_per_cycle": "multiply-accumulates that the array does in a cycle",
    "accumulator_bits": "width of the sums",
    "memory_bits": "of the operand buffers",
    "products": "matrix products of a pass through the workload",
    "jobs": "into which they are cut",
    "latency_cycles": "cycles from the first beat of one input to the last of its output; of an engine of a pass",
    "cycles": "cycles of a whole batch, by the cycle model",
    "cycles_per_inference": "cycles / batch; of an engine, the cycles of a pass through the workload",
    "utilization": "useful multiply-accumulates per possible one",
    "edge_limit": "utilization that ragged edges of the products allow",
    "accuracy": "share of inputs whose greatest output is the right one",
    "rms_error": "of the outputs against the reference, in real units",
    "inexact": "reachable accumulators that differ from the float32 formula, counted",
    "reachable": "reachable accumulators, all columns",
    "inexact_share": "inexact / reachable",
    "io_bits_per_cycle": "A in and Y out; of an engine B in, too",
    "weight_bits_per_cycle": "from the weight memories on the chip",
    "bit_products": "estimate of area before synthesis: one-bit products and accumulator bits",
    "lut_sites": "LUT sites, carry and distributed memory included; on iCE40 logic cells",
    "cell_area": "of standard cells, in the unit of their library",
    "gates": "gates or standard cells, registers included",
    "ff": "flip-flops",
    "dsp": "multiplier cells of the device",
    "ram": "block memories of the device",
    "fmax_mhz": "frequency after place and route, median over seeds; of standard cells before layout",
    "fmax_mhz_per_seed": "frequency of each seed",
    "fmax_min_mhz": "frequency of the worst seed",
    "critical_path": "of the typical seed",
    "inferences_per_kcycle": "1000 / cycles_per_inference",
    "inferences_per_s": "fmax_mhz / cycles_per_inference",
    "products_per_s": "matrix products of the workload a second",
    "macs_per_s": "useful multiply-accumulates per second",
    "latency_us": "latency_cycles / fmax_mhz",
    "macs_per_s_per_lut": "useful multiply-accumulates per second per LUT site",
    "io_mb_per_s": "10^6 bytes per second of what io_bits_per_cycle counts",
    "weight_mb_per_s": "10^6 bytes per second from the weight memories",
    "cosim": "equal: outputs equal golden and cycles equal the model under a simulator",
    "cosim_rows": "inputs of the cosimulation",
    "cosim_images": "images of the cosimulation",
    "cosim_product": "M x K x N of the product of the cosimulation",
    "cosim_cycles": "cycles counted there",
    "cosim_mismatches": "outputs and rules that were wrong there",
    "cosim_float32_mismatches": "outputs there that differ from the float32 formula",
}

TEXTS = (
    "status", "reason", "stage", "requantizer", "dataflow", "cells", "target", "cosim", "cosim_product",
    "critical_path",
)  # fmt: skip
_WHOLE = (
    "rows", "cols", "depth", "a_bits", "b_bits", "requantizer_bits", "multiplier_bits", "lanes", "a_words", "b_words",
    "max_columns", "max_rows", "bus", "macs_per_cycle", "accumulator_bits", "memory_bits", "products",
    "jobs", "latency_cycles",
    "cycles", "inexact", "reachable", "weight_bits_per_cycle", "bit_products", "lut_sites", "gates", "ff", "dsp", "ram",
    "multipliers", "cosim_images", "cosim_rows",
    "cosim_cycles", "cosim_mismatches", "cosim_float32_mismatches",
)  # fmt: skip
_OF_ALL = frozenset((
    "status", "reason", "stage", "front", "cells", "target", "macs_per_cycle", "latency_cycles", "cycles",
    "cycles_per_inference", "utilization", "io_bits_per_cycle", "bit_products", "lut_sites", "cell_area", "gates", "ff",
    "dsp", "ram", "fmax_mhz", "fmax_mhz_per_seed", "fmax_min_mhz", "critical_path", "inferences_per_kcycle",
    "inferences_per_s", "macs_per_s", "latency_us", "macs_per_s_per_lut", "io_mb_per_s", "cosim", "cosim_cycles",
    "cosim_mismatches",
))  # fmt: skip


def columns_of(subject: Subject) -> dict[str, str]:
    """The columns of a kind of subject, in order: the columns of all kinds, and its own."""
    return {name: text for name, text in COLUMNS.items() if name in _OF_ALL or name in subject.columns}


def row(point: Point, findings: Mapping[str, Finding], work: int) -> dict[str, Any]:
    """The row of a point; `work` is the multiply-accumulates of one inference."""
    cells: dict[str, Any] = dict.fromkeys(COLUMNS)
    cells |= {**point.as_dict(), "cells": point.hardware_cells, "front": False, "status": "done", "reason": ""}
    for stage in STAGES:
        finding = findings.get(stage)
        if finding is None:
            continue
        if finding.status != "done":
            cells |= {"status": finding.status, "reason": finding.reason}
            break
        cells |= {name: value for name, value in finding.values.items() if name in COLUMNS}
        if stage != "cosimulation":
            cells["stage"] = stage
    _derive(cells, work)
    return cells


def _derive(cells: dict[str, Any], work: int) -> None:
    per_inference, fmax = cells["cycles_per_inference"], cells["fmax_mhz"]
    if per_inference is None:
        return
    cells["inferences_per_kcycle"] = 1000 / per_inference
    if fmax is None:
        return
    cells["fmax_min_mhz"] = min(cells["fmax_mhz_per_seed"] or [fmax])
    cells["inferences_per_s"] = fmax * 1e6 / per_inference
    if cells["products"] is not None:
        cells["products_per_s"] = cells["inferences_per_s"] * cells["products"]
    cells["macs_per_s"] = cells["inferences_per_s"] * work
    if cells["latency_cycles"] is not None:
        cells["latency_us"] = cells["latency_cycles"] / fmax
    cells["io_mb_per_s"] = cells["io_bits_per_cycle"] * fmax / 8
    if cells["weight_bits_per_cycle"] is not None:
        cells["weight_mb_per_s"] = cells["weight_bits_per_cycle"] * fmax / 8
    if cells["lut_sites"]:
        cells["macs_per_s_per_lut"] = cells["macs_per_s"] / cells["lut_sites"]


def objective_columns(names: tuple[str, ...], rows: list[dict[str, Any]]) -> dict[str, str]:
    """The column of each objective: the first that all `rows` have."""
    columns = {}
    for name in names:
        found = [column for column in OBJECTIVES[name].columns if all(one[column] is not None for one in rows)]
        if not found:
            hint = ": it needs --data with labels or outputs" if name in ("accuracy", "error") else ""
            raise InputError(f"objective must be measurable here, not {name!r}{hint}")
        columns[name] = found[0]
    return columns


def costs(rows: list[dict[str, Any]], columns: Mapping[str, str]) -> npt.NDArray[np.float64]:
    """[points, objectives], less is better."""
    signs = [-1.0 if OBJECTIVES[name].most else 1.0 for name in columns]
    table = [[sign * float(one[column]) for sign, column in zip(signs, columns.values(), strict=True)] for one in rows]
    return np.array(table).reshape(len(rows), len(columns))


def frame(rows: Sequence[Row], columns: Iterable[str]) -> Any:
    """The given columns of the rows as a polars DataFrame."""
    polars = need("polars", "polars", "explore", extra="explore")
    names = list(columns)
    types = {
        name: polars.String if name in TEXTS
        else polars.Boolean if name == "front"
        else polars.List(polars.Float64) if name == "fmax_mhz_per_seed"
        else polars.Int64 if name in _WHOLE
        else polars.Float64
        for name in names
    }  # fmt: skip
    return polars.DataFrame([{name: one[name] for name in names} for one in rows], schema=types, orient="row")
