"""Plan: how much each stage of a network does in a cycle, so that none waits for another longer than it must.

For a given time per image, each stage has one cheapest choice, independent of the others. The plan for a budget is
therefore the plan for the shortest time whose total fits the budget, found by bisection.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from systoliq.golden import network
from systoliq.hw.cells import LUT_CELLS, PAIR_CELLS, PLAIN_CELLS, family, is_ecp5
from systoliq.hw.float32 import FLOAT32_BITS
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.mac import multipliers_of
from systoliq.hw.multiplier import WideMultiplier
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.requantizer import serial_pace
from systoliq.markup import described

from ...errors import InputError
from ...synth.families import FAMILIES
from ..stage_table import stage_table

__all__ = [
    "UNLIMITED",
    "Plan",
    "StagePlan",
    "cells_of_lane",
    "forms_of_stage",
    "lane_cells",
    "placed",
    "plan_for_budget",
    "plan_for_cycles",
    "plan_of",
    "quicker_and_cheaper",
    "stages_of",
    "stages_of_layer",
    "times_of",
    "within_cells",
]

_MOST_CYCLES = 1.25  # per cycle of another plan: a better clock makes up for no more
UNLIMITED = 10**9  # of sites, or of cells
PRODUCT_SITES = 100  # of lookup tables that a product of 8 x 8 bits takes without a multiplier
PAIR_SITES = 26  # that it takes beside half of one, more than with a whole one


def lane_cells(cells: str) -> str:
    """The cells of requantizers in a network of ``cells``: on ECP5, lookup tables, since there are more of them."""
    return LUT_CELLS if is_ecp5(cells) else cells


@dataclass(frozen=True, kw_only=True)
class StagePlan:
    """One stage: `image_cycles` from one image to the next if neither side waits; `dsp`: cells of the family that it
    takes for products and lanes, `requantizer_dsp` of them for lanes: requantizers, and products of row sums.
    """

    node: network.Node
    parallelism: Parallelism
    image_cycles: int
    multipliers: int
    dsp: int
    requantizer_dsp: int = 0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The stages of a network in their order."""

    stages: tuple[StagePlan, ...]

    @property
    def image_cycles(self) -> int:
        """Cycles from one image to the next: the slowest stage's."""
        return max(stage.image_cycles for stage in self.stages)

    @property
    def multipliers(self) -> int:
        """Products that all stages do in a cycle."""
        return sum(stage.multipliers for stage in self.stages)

    @property
    def dsp(self) -> int:
        """Multiplier cells, requantizers included."""
        return sum(stage.dsp for stage in self.stages)

    @property
    def share_of_lanes(self) -> str:
        """How many multiplier cells are requantizers' and row sums', for messages; empty if none is."""
        count = sum(stage.requantizer_dsp for stage in self.stages)
        return f", {count} of them for requantizers and row sums" if count else ""

    @property
    def parallelism(self) -> dict[str, Parallelism]:
        """Parallelism by node name."""
        return {stage.node.name: stage.parallelism for stage in self.stages}

    @property
    def utilization(self) -> float:
        """Multiply-accumulates of an image as a share of the multipliers' capacity; 0 without multipliers."""
        macs = sum(stage.node.multiply_accumulates for stage in self.stages)
        return macs / max(self.multipliers * self.image_cycles, 1)

    def __repr__(self) -> str:
        return (
            f"Plan({len(self.stages)} stages, {self.image_cycles} cycles an image, {self.multipliers} multipliers, "
            f"{self.utilization:.1%} busy)"
        )

    def _repr_html_(self) -> str:
        return described(repr(self), *stage_table(self.as_json()))

    def as_json(self) -> list[dict[str, Any]]:
        """A stage each, as `read_plan` takes them: the rest is for people."""
        return [
            {
                "node": stage.node.name,
                "operator": type(stage.node).__name__,
                "cols": stage.parallelism.cols,
                "depth": stage.parallelism.depth,
                "cells": stage.parallelism.cells,
                **({"lane_cells": stage.parallelism.lane_cells} if stage.parallelism.lane_cells else {}),
                "image_cycles": stage.image_cycles,
                "share_of_slowest": round(stage.image_cycles / self.image_cycles, 4),
                "multipliers": stage.multipliers,
                "dsp": stage.dsp,
            }
            for stage in self.stages
        ]


def stages_of(net: network.Network) -> list[network.Node]:
    """The nodes that become stages."""
    return [node for node in net.nodes if operator_of(node).is_stage]


def stages_of_layer(node: network.Dense, cells: str, products: str) -> Iterator[StagePlan]:
    """All that a layer by itself can be, with `products` instead of `cells` where they are named, in lanes too."""
    for each in operator_of(node).choices():
        yield _stage(node, dataclasses.replace(each, cells=products), cells, lanes_in=products or cells)


def forms_of_stage(node: network.Node, cells: str) -> Iterator[StagePlan]:
    """All that the stage of `node` can be: each parallelism, its products in each form that `cells` have."""
    for stage in (*_choices(node, cells), *_wide(node, cells)):
        for form, _ in _forms(stage, cells, pairs=True):
            yield form


def plan_for_cycles(net: network.Network, cycles: int, *, cells: str) -> Plan:
    """The plan with the fewest multipliers that takes at most `cycles` from one image to the next. A stage takes
    several pixels of a window in a cycle only where no other parallelism is enough.

    Raises InputError where no parallelism of a stage is enough, with the fewest cycles that are.
    """
    chosen = []
    for node in stages_of(net):
        fitting = [stage for stage in _choices(node, cells) if stage.image_cycles <= cycles]
        fitting = fitting or [stage for stage in _wide(node, cells) if stage.image_cycles <= cycles]
        if not fitting:
            least = min(stage.image_cycles for stage in (*_choices(node, cells), *_wide(node, cells)))
            raise InputError(
                f"an image must have at least {least} cycles for node {node.name!r}, whatever its parallelism, not "
                f"{cycles}"
            )
        chosen.append(fitting[0])
    return Plan(stages=tuple(chosen))


def plan_for_budget(
    net: network.Network,
    dsp: int,
    luts: int,
    *,
    cells: str,
    pairs: bool = False,
    cycles: int = 0,
    wide: bool = False,
    mhz: Callable[[Plan], float] = lambda plan: 1.0,
) -> Plan:
    """Return the plan with the most images a second at the clock `mhz` of each plan, within `dsp` multiplier cells, and
    `luts` sites of lookup tables for products that find no cell (on ECP5 and iCE40), or half of one alone, where
    `pairs` are allowed. With `cycles`: the plan with the fewest multipliers that takes at most `cycles` from one image
    to the next, if such a plan is within the budget, or one with more images a second. Where even the smallest plan
    lacks cells on iCE40, it takes the lookup tables that it needs.

    A plan whose clock is 0 is not chosen, unless it is the smallest of all. Only if `wide`, stages may take several
    pixels of a window in a cycle, for fewer cycles than with one.

    Raises InputError where even the smallest takes more multiplier cells.
    """
    times = times_of(net, cells, wide=wide)
    times = times[max(sum(time <= cycles for time in times) - 1, 0) :]

    @functools.cache
    def within(index: int) -> Plan | None:
        return placed(plan_for_cycles(net, times[index], cells=cells), dsp, luts, cells, pairs=pairs)

    low, high = -1, len(times) - 1  # too dear, affordable
    if within(high) is None:
        return _smallest(plan_for_cycles(net, times[high], cells=cells), dsp, luts, cells)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) else (middle, high)
    # A plan of more cycles may take more memory, and a plan of more multipliers less: each is looked at.
    best, most = None, 0.0
    for index in range(high, len(times)):
        if best and times[index] > _MOST_CYCLES * best.image_cycles:
            break
        plan = within(index)
        if plan and (rate := mhz(plan) / plan.image_cycles) > most:
            best, most = plan, rate
    return best or cast("Plan", within(len(times) - 1))


def times_of(net: network.Network, cells: str, *, wide: bool) -> list[int]:
    """Cycles of an image that plans can have, from the fewest on; `wide` as in `plan_for_budget`."""
    choices = [(*_choices(node, cells), *(_wide(node, cells) if wide else ())) for node in stages_of(net)]
    slowest = max(min(stage.image_cycles for stage in each) for each in choices)
    times = {stage.image_cycles for each in choices for stage in each} | {slowest}
    return sorted(time for time in times if time >= slowest)


def quicker_and_cheaper(stage: StagePlan, cells: str) -> tuple[list[StagePlan], list[StagePlan]]:
    """Other choices of a stage: those with fewer cycles of an image, the cheapest first, and those with fewer
    multipliers or cells, the dearest first; `stage` is of no form yet, as in `plan_for_cycles`.
    """
    others = [*_choices(stage.node, cells), *_wide(stage.node, cells)]
    quicker = [each for each in others if each.image_cycles < stage.image_cycles]
    cheaper = [each for each in others if (each.dsp, each.multipliers) < (stage.dsp, stage.multipliers)]
    return sorted(quicker, key=_price), sorted(cheaper, key=_price, reverse=True)


def _smallest(plan: Plan, dsp: int, luts: int, cells: str) -> Plan:
    """Return `plan`, the smallest of all, with as many lookup tables as it needs where its family has that form.

    Raises InputError where it has not.
    """
    if found := placed(plan, dsp, UNLIMITED if family(cells) == "ice40" else luts, cells, pairs=False):
        return found
    raise InputError(
        f"multipliers must be at least {plan.dsp} for {len(plan.stages)} stages{plan.share_of_lanes}, not {dsp}; what "
        "may help: more --multipliers, or a part that has them"
    )


def within_cells(plan: Plan, dsp: int, *, cells: str, pairs: bool = False) -> Plan:
    """Return `plan` with as much of it in lookup tables as leaves at most `dsp` multiplier cells, on ECP5 and iCE40; as
    it is on other families. `pairs` as in `plan_for_budget`.
    """
    return plan if plan.dsp <= dsp else placed(plan, dsp, UNLIMITED, cells, pairs=pairs) or plan


def placed(plan: Plan, dsp: int, luts: int, cells: str, *, pairs: bool) -> Plan | None:
    """`plan` with each stage's products in the form that takes the fewest sites of lookup tables for all together,
    within `dsp` multiplier cells; None where that takes more than `luts`.
    """
    best: dict[int, tuple[int, tuple[StagePlan, ...]]] = {0: (0, ())}  # by cells taken: fewest sites, and the forms
    for stage in plan.stages:
        following: dict[int, tuple[int, tuple[StagePlan, ...]]] = {}
        for form, more in (*_plain_forms(stage, cells), *_forms(stage, cells, pairs=pairs)):
            for taken, (sites, forms) in best.items():
                cost = taken + form.dsp, sites + more
                if cost[0] <= dsp and cost[1] <= luts and cost[1] < following.get(cost[0], (luts + 1,))[0]:
                    following[cost[0]] = cost[1], (*forms, form)
        best = following
    return Plan(stages=min(best.values(), key=lambda each: each[0])[1]) if best else None


def _forms(stage: StagePlan, cells: str, *, pairs: bool) -> Iterator[tuple[StagePlan, int]]:
    """Forms of the products of `stage`, each with the LUT sites of its multipliers."""
    if stage.dsp and is_ecp5(cells):
        yield _with_cells(stage, cells, cells=LUT_CELLS), stage.multipliers * PRODUCT_SITES
        if pairs and operator_of(stage.node).is_product and stage.parallelism.cols > 1:
            yield _with_cells(stage, cells, cells=PAIR_CELLS), stage.multipliers * PAIR_SITES
    yield stage, 0


def _plain_forms(stage: StagePlan, cells: str) -> Iterator[tuple[StagePlan, int]]:
    """The same of an iCE40: products, requantizers or both in plain logic."""
    sizes = FAMILIES["ice40"].sizes
    if family(cells) != "ice40" or sizes is None:
        return
    products = stage.multipliers * math.ceil(sizes.plain_product)
    factors = operator_of(stage.node).requantizer_factors or (0, 0)
    lanes = operator_of(stage.node).lanes(stage.parallelism) * math.ceil(math.prod(factors) * sizes.plain_bit)
    if stage.multipliers:
        yield _with_cells(stage, cells, cells=PLAIN_CELLS), products
    if stage.requantizer_dsp:
        yield _with_cells(stage, cells, lane_cells=PLAIN_CELLS), lanes
        yield _with_cells(stage, cells, cells=PLAIN_CELLS, lane_cells=PLAIN_CELLS), products + lanes


def _with_cells(stage: StagePlan, family_cells: str, **chosen: Any) -> StagePlan:
    return _stage(stage.node, dataclasses.replace(stage.parallelism, **chosen), family_cells)


def plan_of(net: network.Network, parallelism: Mapping[str, Parallelism], *, cells: str) -> Plan:
    """The plan with the parallelism under each stage's name, which must be one that it can have."""
    return Plan(stages=tuple(_stage(node, parallelism[node.name], cells) for node in stages_of(net)))


@functools.cache
def _choices(node: network.Node, cells: str) -> Sequence[StagePlan]:
    """All that a stage can be with one pixel a cycle, the cheapest first; of those as cheap the narrowest, then the
    quickest.
    """
    stages = [_stage(node, each, cells) for each in operator_of(node).choices() if not operator_of(node).is_wide(each)]
    return sorted(stages, key=_price)


@functools.cache
def _wide(node: network.Node, cells: str) -> Sequence[StagePlan]:
    """The same with several pixels of a window, whose lines are then kept several times."""
    stages = [_stage(node, each, cells) for each in operator_of(node).choices() if operator_of(node).is_wide(each)]
    return sorted(stages, key=_price)


def _price(stage: StagePlan) -> tuple[int, int, int]:
    return stage.dsp, stage.parallelism.cols + stage.parallelism.depth, stage.image_cycles


def _stage(node: network.Node, parallelism: Parallelism, cells: str, lanes_in: str | None = None) -> StagePlan:
    operator, lane_in = operator_of(node), parallelism.lane_cells or lanes_in or lane_cells(cells)
    factors = operator.requantizer_factors
    if factors and serial_pace(factors[1], operator.lane_pace(parallelism), lane_in) > 1:
        factors = None  # no multiplier
    lane = cells_of_lane(factors, operator.row_sum_factors, lane_in)
    lanes = 0 if _in_logic(lane_in, cells) else lane * operator.lanes(parallelism)
    return StagePlan(
        node=node,
        parallelism=parallelism,
        image_cycles=operator.image_cycles(parallelism),
        multipliers=operator.multipliers(parallelism),
        dsp=_cells_of_products(node, parallelism, cells) + lanes,
        requantizer_dsp=lanes,
    )


def _in_logic(chosen: str, cells: str) -> bool:
    """True if `chosen` cells take no multiplier in a network of `cells`: plain logic next to iCE40's cells, for which
    Yosys infers no multiplier.
    """
    return chosen == PLAIN_CELLS and family(cells) == "ice40"


def _cells_of_products(node: network.Node, parallelism: Parallelism, cells: str) -> int:
    """Multiplier cells of the products of a stage, without its requantizers'."""
    chosen = parallelism.cells or cells
    if chosen == LUT_CELLS or _in_logic(chosen, cells):
        return 0
    if not operator_of(node).is_product:
        return operator_of(node).multipliers(parallelism)
    columns = parallelism.cols + operator_of(node).needs_row_sums
    if chosen == PAIR_CELLS:
        return -(-columns // 2) * parallelism.depth
    return columns * multipliers_of(chosen, parallelism.depth)


def cells_of_lane(requantizer: tuple[int, int] | None, row_sums: tuple[int, int] | None, cells: str) -> int:
    """Return the multiplier cells of a lane by the bits of factors: of sums and mantissas in its `requantizer`, and of
    residuals and `row_sums`; None for what the lane does not have.
    """
    count = _cells_of_multiplier(*row_sums, cells) if row_sums else 0
    if requantizer:
        sum_bits, mantissa_bits = requantizer
        count += _cells_of_multiplier(min(sum_bits, FLOAT32_BITS + 1), mantissa_bits, cells)
    return count


@functools.cache
def _cells_of_multiplier(a_bits: int, b_bits: int, cells: str) -> int:
    multiplier = WideMultiplier(a_bits, b_bits, cells=cells)
    mark_used(multiplier)
    return multiplier.count
