"""Table of a plan's stages: heads and rows of text, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["COUNTED", "stage_table"]

COUNTED = {
    "multipliers": ("multipliers", ""),
    "dsp": ("multiplier cells", "dsp"),
    "lut_sites": ("LUT sites, about", "lut_sites"),
    "registers": ("registers, about", "ff"),
    "ram": ("memory blocks, about", "ram"),
}
"""Figures of a stage that add up, by name: the head of the column, and the key of a part's capacity."""


def stage_table(stages: Sequence[Mapping[str, Any]], usual: str = "") -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows for `stages`, as `Design.stages` has them: a row for each, and the last one with the
    sums. `usual` are the cells of stages that name none.
    """
    counted = [key for key in COUNTED if key in stages[0]]
    heads = ["stage", "operator", "cols x depth", "cells", "cycles", "of the slowest"]
    rows = [
        [
            stage["node"], stage["operator"], f"{stage['cols']} x {stage['depth']}", _cells(stage, usual),
            str(stage["image_cycles"]), f"{stage['share_of_slowest']:.0%}", *(str(stage[key]) for key in counted),
        ]
        for stage in stages
    ]  # fmt: skip
    slowest = max(stage["image_cycles"] for stage in stages)
    rows.append(["all", "", "", "", str(slowest), "", *(str(sum(stage[key] for stage in stages)) for key in counted)])
    return [*heads, *(COUNTED[key][0] for key in counted)], rows


def _cells(stage: Mapping[str, Any], usual: str) -> str:
    """Return the cells of products, and of requantizers where the plan names others."""
    lanes = stage.get("lane_cells")
    return (stage["cells"] or usual) + (f", requantizer {lanes}" if lanes else "")
