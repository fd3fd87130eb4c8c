"""Fit of a plan on a part, before anything is built."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from systoliq.hw.cells import PACKED_BITS

from ...errors import TooLargeError
from .estimate import LUT_ERROR, RAM_ERROR, REGISTER_ERROR, Estimate, blocks_of
from .options import NetworkOptions
from .plan import Plan

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["check_fit"]


def check_fit(plan: Plan, estimates: Mapping[str, Estimate], part: Target, asked: NetworkOptions) -> None:
    """Refuse, in one line, a plan that `part` cannot hold: in multiplier cells, or in the others by more than the
    error of estimates.

    Raises TooLargeError.
    """
    if short := dict(_short(plan, estimates, part, asked.cells)):
        needs = ", and ".join(short.values())
        advice = _advice(asked, memory="ram" in short)
        raise TooLargeError(f"the plan does not fit {part.title}: it needs {needs}; {advice}")


def _short(plan: Plan, estimates: Mapping[str, Estimate], part: Target, cells: str) -> Iterator[tuple[str, str]]:
    """Yield each resource that is short, with what the plan needs of it and what the part has."""
    room = part.capacity
    if cells != "portable" and cells not in PACKED_BITS and plan.dsp > room.get("dsp", plan.dsp):
        share = plan.share_of_lanes and f"{plan.share_of_lanes},"
        yield "dsp", f"{plan.dsp} multiplier cells{share} where there are {room['dsp']}"
    sites = sum(each.lut_sites for each in estimates.values())
    if sites / (1 + LUT_ERROR) > room.get("lut_sites", sites):
        yield "lut_sites", f"about {sites} LUT sites where there are {room['lut_sites']}"
    registers = sum(each.registers for each in estimates.values())
    if registers / (1 + REGISTER_ERROR) > room.get("ff", registers):
        yield "ff", f"about {registers} registers where there are {room['ff']}"
    blocks = blocks_of(estimates.values(), part)
    if min(blocks / (1 + LUT_ERROR), blocks - RAM_ERROR * len(estimates)) > room.get("ram", blocks):
        yield "ram", f"about {blocks} memory blocks where there are {room['ram']}"


def _advice(asked: NetworkOptions, *, memory: bool) -> str:
    """Return the options to change, and the engine if `memory` is what does not fit."""
    if asked.plan is not None:
        return f"take smaller cols or depth in {asked.plan}, or a larger part"
    if asked.throughput is not None and asked.throughput != math.inf:
        return f"ask for a throughput below {asked.throughput:g}, or take a larger part"
    if asked.multipliers is None and asked.luts is None:
        advice = "no plan takes less: take a larger part, or fewer bits (systoliq explore --bits)"
        return f"{advice}, or the engine, whose weights lie in external memory (systoliq compile)" if memory else advice
    turned = "luts" if asked.luts else "multipliers"
    return f"ask for fewer {turned}, or take a larger part"
