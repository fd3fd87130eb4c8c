"""Expected time of synthesis and place and route, printed before they start."""

from __future__ import annotations

import click

from ..design import Design
from ..synth.families import FAMILIES
from ..synth.targets import Target

__all__ = ["tell_expected_time"]

# Fits to runs of layers and networks of 1300 to 3000 LUT sites (docs/boards.md), within a factor of three, on an
# idle machine of two cores; each placement takes `Placement.seconds`.
_SYNTHESIS = 0.014  # seconds a LUT site
_BESIDE_PRODUCTS, _PRODUCT = 700, 100  # LUT sites of a stage, and of a product, where there is no estimate


def tell_expected_time(design: Design, target: Target, placements: int) -> None:
    """Print how long a layer or a network is expected to take, placed and routed `placements` times."""
    if design.kind not in ("layer", "network"):
        return
    sites = sum(stage.get("lut_sites", _BESIDE_PRODUCTS) for stage in design.stages)
    if not any("lut_sites" in stage for stage in design.stages):
        sites = max(sites, _BESIDE_PRODUCTS) + _PRODUCT * design.macs_per_cycle
    placement = FAMILIES[target.family].placement
    seconds = sites * (_SYNTHESIS + (placement.seconds if placement else 0.0) * placements)
    minutes = max(round(seconds / 60), 1)
    work = "synthesis, place and route" if placement else "synthesis"
    click.echo(f"expected: about {minutes} minute{'s' * (minutes > 1)} of {work} on an idle machine")
