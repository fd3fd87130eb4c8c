"""The sidecar's description of a bare array."""

from __future__ import annotations

from typing import Any

from systoliq.hw import ArrayConfig
from systoliq.hw.packing import ArrayPacking

from ...design.array.design import ArrayDesign
from ...design.facts import RESET, format_facts
from ...testbench.array.stimulus import array_stimulus

__all__ = ["describe_array"]


def describe_array(design: ArrayDesign) -> dict[str, Any]:
    """Return the description for `describe`."""
    config, array, stimulus = design.config, design.array, array_stimulus(design)
    return {
        "computes": "sums = a @ b for tiles of rows x K and K x cols, modulo 2^accumulator_bits" + _of_float8(config),
        "formats": {"a": format_facts(config.a), "b": format_facts(config.b)},
        "parameters": {
            "rows": config.rows,
            "cols": config.cols,
            "depth": config.depth,
            "multipliers": config.macs_per_cycle,
            "accumulator_bits": config.accumulator_bits,
            "longest_sum": design.longest_sum,
            "wrap": design.wrap,
        },
        "packing": ArrayPacking.facts(array),
        "latency": {
            "cycles": array.latency,
            "from": "the cycle in which the last beat of a tile is taken",
            "to": "sum of row 0, column 0; that of row r, column c comes r + c cycles later",
        },
        "tready": {
            "s_axis_a": "1 in a cycle in which both streams offer a beat, so it follows tvalid in the same cycle; the "
            f"last beat of a tile waits until {config.rows} cycles have passed since that of the tile before",
            "s_axis_b": "that of s_axis_a",
        },
        "reset": RESET,
        "cycle_model": {
            "formula": f"a tile of t beats: t + {array.cycles([1]) - 1}; each further one max(t, {config.rows}) more",
            "meaning": "from the first beat to the last sum, both included, without stalls",
        },
        "vectors": {"tiles": len(stimulus.inner), "inner": list(stimulus.inner)},
    }


def _of_float8(config: ArrayConfig) -> str:
    """Facts about sums of float8; empty for integers."""
    if not config.float8:
        return ""
    unit = sum(form.unit for form in config.float8)
    flags = "a bit for NaN" if config.flag_bits == 1 else "a bit for +infinity and one for -infinity, both for NaN"
    return f", exact, in units of 2^{unit}; above each sum {flags}"
