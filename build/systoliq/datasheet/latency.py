"""Latency of a package: as its sidecar states it, and as a trace measures it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .trace import Trace

__all__ = ["latency_start", "stated_latency"]


def latency_start(sidecar: Mapping[str, Any], trace: Trace) -> int:
    """Return the cycle from which the sidecar's latency counts, see its `latency.from`: the first beat of operands, or
    the last one of a group or tile.
    """
    beats: int | None = sidecar["packing"]["a"].get("beats_per_group")
    if beats is not None:
        return trace.taken(trace.senders[0])[beats - 1]
    if "sums" in {port.name for port in trace.ports}:
        last = trace.values[trace.senders[0].signals["TLAST"].name]
        return next(cycle for cycle in trace.taken(trace.senders[0]) if last[cycle])
    return trace.first_operand


def stated_latency(sidecar: Mapping[str, Any]) -> int | None:
    """Return the cycles to the first result that the sidecar states; None if the testbench's first job is another."""
    cycles = sidecar["latency"]["cycles"]
    if isinstance(cycles, Mapping):
        return min(int(each["first_result"]) for each in cycles.values())
    jobs = sidecar.get("vectors", {}).get("jobs")
    if jobs and any(jobs[0][size] != 1 for size in "mkn"):
        return None
    return int(cycles)
