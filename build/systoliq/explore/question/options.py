"""Options of each stage of a network, with their costs, and the smallest plan for a given time per image.

Costs add up over stages, and the time is the slowest stage's. The smallest plan for a given time is therefore found
without trying all plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network, Node

from ...design import LayerOptions
from ...design.layer.auto import choices_of_layer
from ...design.network.clock import traits_of
from ...design.network.estimate import estimate
from ...design.network.plan import Plan, StagePlan, forms_of_stage, stages_of
from ...errors import InputError

__all__ = ["OBJECTIVES", "Option", "Sized", "options_of", "options_of_layer", "smallest", "times_of"]

OBJECTIVES = {
    "area": ("lut_sites", "dsp", "ram"), "dsp": ("dsp", "lut_sites", "ram"), "ram": ("ram", "lut_sites", "dsp")
}  # fmt: skip
"""Quantities to minimize, by name, and the quantity that decides between equal plans."""

_PRICES = (0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 8192)  # LUT sites of a memory block


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
        """The plan, as the hardware is built from it."""
        return Plan(stages=tuple(option.stage for option in self.options))

    @property
    def image_cycles(self) -> int:
        """Cycles from one image to the next."""
        return max(option.stage.image_cycles for option in self.options)

    @property
    def traits(self) -> dict[str, bool]:
        """Inputs of the frequency model besides sizes."""
        return traits_of([option.stage for option in self.options])

    def total(self, name: str) -> int:
        """`lut_sites`, `dsp` or `ram` of all stages."""
        return sum(getattr(option, name) for option in self.options)


def options_of(net: Network, cells: str) -> list[list[Option]]:
    """For each stage the options that no other beats in cycles, LUT sites, multiplier cells and memory blocks."""
    return [_unbeaten(_all_of(node, cells)) for node in stages_of(net)]


def options_of_layer(layer: MatMulLayer, asked: LayerOptions) -> list[list[Option]]:
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


def _unbeaten(options: Iterable[Option], *, timed: bool = True) -> list[Option]:
    """Options that no other beats in all of `costs`; without `timed`, in all but cycles."""
    kept: list[Option] = []
    first = 0 if timed else 1
    for option in sorted(options, key=lambda each: each.costs[first:]):
        own = option.costs[first:]
        if not any(all(a <= b for a, b in zip(other.costs[first:], own, strict=True)) for other in kept):
            kept.append(option)
    return kept


def times_of(options: Sequence[Sequence[Option]]) -> list[int]:
    """Cycles an image that a plan can have, the fewest first."""
    least = max(min(option.stage.image_cycles for option in stage) for stage in options)
    return sorted({each for stage in options for option in stage if (each := option.stage.image_cycles) >= least})


def smallest(options: Sequence[Sequence[Option]], cycles: int, room: Mapping[str, int], objective: str) -> Sized | None:
    """The plan of at most `cycles` an image with the least `objective` that has `room`; None where none is found.

    It is the least of all, unless that has too many memory blocks. They then have a price in LUT sites, and the answer
    is the best over a ladder of prices: a smaller plan may lie between two of them.
    """
    quick = [
        unbeaten
        for stage in options
        if (unbeaten := _unbeaten((each for each in stage if each.stage.image_cycles <= cycles), timed=False))
    ]
    if len(quick) < len(options):
        return None
    blocks = room.get("ram")
    free = _least(quick, {name: most for name, most in room.items() if name != "ram"}, objective, 0)
    if free is None or blocks is None or free.total("ram") <= blocks:
        return free
    found = [each for price in _PRICES if (each := _least(quick, room, objective, price)) is not None]
    return min(found, key=lambda each: [each.total(name) for name in OBJECTIVES[objective]], default=None)


def _least(options: Sequence[Sequence[Option]], room: Mapping[str, int], objective: str, price: int) -> Sized | None:
    """The least that has room, where a memory block counts as `price` LUT sites: for each number of multiplier cells
    the best of all stages so far, stage after stage.
    """

    def cost(lut_sites: int, ram: int) -> tuple[int, int]:
        return (ram, lut_sites) if objective == "ram" else (lut_sites + price * ram, ram)

    most = room.get("dsp")
    best: dict[int, tuple[int, int, tuple[Option, ...]]] = {0: (0, 0, ())}
    for stage in options:
        following: dict[int, tuple[int, int, tuple[Option, ...]]] = {}
        for option in stage:
            for taken, (lut_sites, ram, chosen) in best.items():
                dsp = taken + option.dsp
                if most is not None and dsp > most:
                    continue
                total = lut_sites + option.lut_sites, ram + option.ram
                if dsp not in following or cost(*total) < cost(*following[dsp][:2]):
                    following[dsp] = *total, (*chosen, option)
        best = following
    found = [Sized(options=chosen) for _, _, chosen in best.values()]
    fitting = [each for each in found if all(each.total(name) <= limit for name, limit in room.items())]
    return min(fitting, key=lambda each: [each.total(name) for name in OBJECTIVES[objective]], default=None)
