"""Advice on a clock that was missed: the stage of the design with the slowest path, and options to change."""

from __future__ import annotations

import re

from .report import CriticalPath, SynthReport

__all__ = ["clock_verdict"]

_STAGES = (
    (r"replay_buffer|sequencer", "the sequencer", "--cols (fewer column tiles), --depth (fewer beats)"),
    (r"weights", "the weight memory", "fewer --cols * --depth, --cells with block RAM of their own"),
    (r"requantizer", "the requantizer", "--requantizer auto, --multiplier-bits"),
    (r"lane|result_buffer", "the drain", "--rows and --cols (fewer sums a lane), --accumulator-bits auto"),
    (r"packer|bus|registers", "the engine's edge", "--lanes"),
    (r"array|column|pe_|mac", "the array", "--cells, --accumulator-bits auto, fewer --rows * --cols"),
)
"""Stages, each with a pattern for the names of a path's ends and advice; the first match is used."""


def clock_verdict(report: SynthReport) -> str:
    """Return "met" if the median of the seeds does; else the slowest stage and options to change."""
    if report.met:
        return "met"
    path = report.critical_path
    missed = f"missed by {report.target_mhz - (report.fmax_mhz or 0.0):.1f} MHz"
    if path is None:
        return missed
    stage, turn = _stage(path)
    grade = ", a faster grade (ecp5: -7, -8)" if report.target.startswith("ecp5") and "k-8" not in report.target else ""
    return f"{missed} in {stage}; what may help: {turn}{grade}"


def _stage(path: CriticalPath) -> tuple[str, str]:
    for end in (path.start, path.end):
        if found := re.search(r"pipeline\.(\w+)", end):
            return f"the network's part {found[1]}", "fewer --multipliers and --luts"
    for end in (path.start, path.end):
        for pattern, stage, turn in _STAGES:
            if re.search(pattern, end):
                return stage, turn
    return "the design", "--cells, --accumulator-bits auto"
