"""Options of each stage of a network, with what they cost, and the smallest plan of them for a time an image.

Costs add up over stages, and the time is that of the slowest, so that for a given time the smallest plan is found
exactly: for each number of multiplier cells the best of all stages so far, stage after stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network, Node

from ...design.hardware import Hardware
from ...design.layer.auto import choices_of_layer
from ...design.network.estimate import estimate
from ...design.network.plan import Plan, StagePlan, forms_of_stage, stages_of
from ...errors import InputError

__all__ = ["OBJECTIVES", "Option", "Sized", "options_of", "options_of_layer", "smallest", "times_of"]

OBJECTIVES = {
    "area": ("lut_sites", "dsp", "ram"), "dsp": ("dsp", "lut_sites", "ram"), "ram": ("ram", "lut_sites", "dsp")
}  # fmt: skip
"""What is made least, by name, and what decides between equal ones."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """A stage as it can be, with its estimates."""

    stage: StagePlan
    lut_sites: int
    ram: int

    @property
    def dsp(self) -> int:
        """Multiplier cells."""
        return self.stage.dsp

    @property
    def costs(self) -> tuple[int, int, int, int]:
        """All that another option can beat."""
        return self.stage.image_cycles, self.lut_sites, self.dsp, self.ram


@dataclass(frozen=True, kw_only=True)
class Sized:
    """A plan with the sums of its options."""

    options: tuple[Option, ...]

    @property
    def plan(self) -> Plan:
        """As the hardware is made of."""
        return Plan(stages=tuple(option.stage for option in self.options))

    @property
    def image_cycles(self) -> int:
        """Cycles from one image to the next."""
        return max(option.stage.image_cycles for option in self.options)

    def total(self, name: str) -> int:
        """`lut_sites`, `dsp` or `ram` of all stages."""
        return sum(getattr(option, name) for option in self.options)


def options_of(net: Network, cells: str) -> list[list[Option]]:
    """For each stage the options that no other beats in cycles, LUT sites, multiplier cells and memory blocks."""
    return [_unbeaten(_all_of(node, cells)) for node in stages_of(net)]


def options_of_layer(layer: MatMulLayer, asked: Hardware) -> list[list[Option]]:
    """The same of a layer alone, which is one stage: arrays of one row on `asked.part`."""
    found = choices_of_layer(layer, asked)
    return [
        _unbeaten(Option(stage=each.stage, lut_sites=each.estimate.lut_sites, ram=each.estimate.ram) for each in found)
    ]


def _all_of(node: Node, cells: str) -> list[Option]:
    found = []
    for stage in forms_of_stage(node, cells):
        known = estimate(node, stage.parallelism, cells)
        if known is None:
            raise InputError(f"cells must be of ECP5 or iCE40, for which there are estimates, not {cells!r}")
        found.append(Option(stage=stage, lut_sites=known.lut_sites, ram=known.ram))
    return found


def _unbeaten(options: Iterable[Option]) -> list[Option]:
    kept: list[Option] = []
    for option in sorted(options, key=lambda each: each.costs):
        if not any(all(a <= b for a, b in zip(other.costs, option.costs, strict=True)) for other in kept):
            kept.append(option)
    return kept


def times_of(options: Sequence[Sequence[Option]]) -> list[int]:
    """Cycles an image that a plan can have, the fewest first."""
    least = max(min(option.stage.image_cycles for option in stage) for stage in options)
    return sorted({each for stage in options for option in stage if (each := option.stage.image_cycles) >= least})


def smallest(options: Sequence[Sequence[Option]], cycles: int, room: Mapping[str, int], objective: str) -> Sized | None:
    """The plan of at most so many `cycles` an image with the least `objective` that has `room`; None where none has.

    The least in memory blocks is tried, too, where the first has no room for its blocks.
    """
    for order in dict.fromkeys((OBJECTIVES[objective], OBJECTIVES["ram"])):
        found = _least(options, cycles, room.get("dsp"), order)
        if found is not None and all(found.total(name) <= most for name, most in room.items()):
            return found
    return None


def _least(options: Sequence[Sequence[Option]], cycles: int, most: int | None, order: tuple[str, ...]) -> Sized | None:
    best: dict[int, tuple[tuple[int, ...], tuple[Option, ...]]] = {0: ((0,) * len(order), ())}  # by multiplier cells
    for stage in options:
        following: dict[int, tuple[tuple[int, ...], tuple[Option, ...]]] = {}
        for option in stage:
            if option.stage.image_cycles > cycles:
                continue
            more = tuple(getattr(option, name) for name in order)
            for taken, (costs, chosen) in best.items():
                dsp = taken + option.dsp
                total = tuple(a + b for a, b in zip(costs, more, strict=True))
                if (most is None or dsp <= most) and (dsp not in following or total < following[dsp][0]):
                    following[dsp] = total, (*chosen, option)
        best = following
    return Sized(options=min(best.values(), key=lambda each: each[0])[1]) if best else None
