"""Floorplan: assigns an array's multipliers to sites of the part, for a placer that would scatter them.

A part's multipliers lie in a few rows, far apart. nextpnr's placers do not keep neighbours together, and the wires from
one column's multipliers to the next column's become the longest of a large array. In the floorplan, columns of an array
are strips from left to right, each over all of the part's rows and as wide as needed; the elements of a column fill its
strip row by row. A moves to the next strip, B down its own. Multipliers of other blocks follow to the right.

In a network, which has several arrays, stages are strips from left to right in the order of the pipeline. The memory
blocks of a stage lie next to each other, near the middle of its strip. A stage without multipliers has no strip; its
blocks lie between the stages before and behind it. Control that reaches all blocks of a stage needs this for short
wires.

An engine has one array and many memory blocks. Their sites are chosen after a first placement: the blocks of one memory
lie next to each other, near the cells that they are connected to. In the first placement they are up to 80 tiles away
from these cells, since nextpnr moves memory blocks to their sites after the cells.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, product
from statistics import median
from typing import Any

from .placed_cells import placed_cells
from .target import BlockSites

__all__ = ["floorplan", "floorplan_line", "floorplan_script", "memories_near", "natural"]

_Place = tuple[float, float]  # X and Y
_Site = tuple[int, int]  # the same of a memory block

_TOWARDS = 0.25  # how much a tile from the middle of a stage counts, where one between its memory blocks counts 1

_MOST_CELLS = 300  # of a net that says something about where its cells belong

_MEMORY = re.compile(r"\.(?:slice_|memory)[^.]*.*")
_STAGE = re.compile(r"(?:^|\.)(?:fifo_)?s(?P<stage>\d+)_")
_COLUMN = re.compile(r"(?P<array>.*)\.column_(?P<column>\d+)\.")


def floorplan(multipliers: Iterable[str], memories: Iterable[str], sites: BlockSites | None) -> dict[str, str]:
    """The site of each of `multipliers`, and of a network's `memories`, all of them hierarchical names; empty where the
    placer does as well alone.

    This is the case if the arrays have no more multipliers than one row of the part, if there is no array, and if the
    strips do not fit side by side.
    """
    names = sorted(multipliers, key=_order)
    found = {name: match for name in names if (match := _COLUMN.match(name))}
    if sites is None or len(found) <= len(sites.columns):
        return {}
    if len({match["array"] for match in found.values()}) > 1:
        return _along(names, sorted(memories, key=_order), sites)
    strips: dict[str, list[str]] = {}
    for name, match in found.items():
        strips.setdefault(match["column"], []).append(name)
    rows = len(sites.rows)
    width = -(-max(map(len, strips.values())) // rows)
    if width * len(strips) > len(sites.columns):
        return {}
    taken = {
        name: (width * index + place % width, place // width)
        for index, strip in enumerate(strips.values())
        for place, name in enumerate(strip)
    }
    # sites to the right of the array first, then sites that it left free
    behind = width * len(strips)
    columns = [*range(behind, len(sites.columns)), *range(behind)]
    free = (site for site in product(columns, range(rows)) if site not in set(taken.values()))
    taken |= zip([name for name in names if name not in taken], free, strict=False)
    return {name: sites.name(*site) for name, site in taken.items()}


def _along(multipliers: list[str], memories: list[str], sites: BlockSites) -> dict[str, str]:
    """The sites of a network's blocks, given in the order of its stages; empty if there are more blocks than sites."""
    free = sites.memories
    rows, columns = range(len(sites.rows)), range(4)
    order = [
        (4 * group + column, row)
        for group in range(len(sites.groups))
        for row in (rows, reversed(rows))[group % 2]  # down one group, up the next
        for column in columns
    ]
    if len(multipliers) > len(order) or len(memories) > len(free):
        return {}
    places = dict(zip(multipliers, order, strict=False))
    arrays: dict[int, list[_Place]] = {}
    for name, (column, row) in places.items():
        arrays.setdefault(_stage(name), []).append((sites.columns[column][0], sites.rows[row]))
    plan = {name: sites.name(*place) for name, place in places.items()}
    middles = {stage: _middle(taken) for stage, taken in arrays.items()}
    for stage, names in groupby(memories, _stage):
        together = list(names)
        cluster = _cluster(free, len(together), _between(middles, stage))
        plan |= {name: free.pop(site) for name, site in zip(together, cluster, strict=True)}
        middles.setdefault(stage, _middle(cluster))
    return plan


def memories_near(placed: Mapping[str, Any], memories: Collection[str], sites: BlockSites) -> dict[str, str]:
    """The sites of `memories` near the cells that they are connected to in `placed`, a netlist that nextpnr wrote."""
    (top,) = placed["modules"].values()
    moved = set(memories)
    places = {cell.name: (cell.x, cell.y) for cell in placed_cells(placed) if cell.name not in moved}
    nets: dict[Any, list[str]] = defaultdict(list)
    for name, cell in top["cells"].items():
        for bits in cell["connections"].values():
            for bit in bits:
                nets[bit].append(name)
    together: dict[str, list[str]] = {}
    for name in sorted(memories, key=natural):
        together.setdefault(_MEMORY.sub("", name), []).append(name)
    free = sites.memories
    plan: dict[str, str] = {}
    for names in sorted(together.values(), key=len, reverse=True):
        near = [
            places[other]
            for name in names
            for bits in top["cells"][name]["connections"].values()
            for bit in bits
            if len(nets[bit]) <= _MOST_CELLS
            for other in nets[bit]
            if other in places
        ]
        xs, ys = zip(*near or free, strict=True)
        cluster = _cluster(free, len(names), (median(xs), median(ys)))
        plan |= {name: free.pop(site) for name, site in zip(names, cluster, strict=True)}
    return plan


def _between(middles: Mapping[int, _Place], stage: int) -> _Place:
    """Return the middle of a stage, or a place on the way from the stage before it to the stage behind it."""
    if stage in middles:
        return middles[stage]
    before = max((each for each in middles if each < stage), default=min(middles))
    behind = min((each for each in middles if each > stage), default=before)
    share = (stage - before) / (behind - before) if behind != before else 0
    (left, top), (right, bottom) = middles[before], middles[behind]
    return left + share * (right - left), top + share * (bottom - top)


def _cluster(free: Iterable[_Site], count: int, middle: _Place) -> list[_Site]:
    """Return `count` of the `free` places that are near to each other, and then near to `middle`."""

    def nearest(to: _Site) -> list[_Site]:
        return sorted(free, key=lambda place: (_apart(place, to), place))[:count]

    def price(cluster: list[_Site]) -> tuple[float, list[_Site]]:
        heart = cluster[0]
        return sum(_apart(each, heart) for each in cluster) / count + _TOWARDS * _apart(heart, middle), cluster

    return min(map(nearest, free), key=price)


def _apart(one: _Place, other: _Place) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _middle(places: Sequence[_Place]) -> _Place:
    """X and Y of the middle of `places`."""
    xs, ys = zip(*places, strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def _stage(name: str) -> int:
    """Number of the stage that a block lies in; the first for blocks of none."""
    match = _STAGE.search(name)
    return int(match["stage"]) if match else 0


def floorplan_line(plan: Mapping[str, str]) -> str:
    """Return what `plan` places, and how."""
    memories = sum("EBR" in site for site in plan.values())
    multipliers = f"{len(plan) - memories} multipliers"
    if not any(map(_STAGE.search, plan)):
        near = f"; {memories} memory blocks near their cells" if memories else ""
        return f"{multipliers}, the columns of the array are strips from left to right{near}"
    return f"{multipliers} and {memories} memory blocks, the stages are strips from left to right"


def floorplan_script(plan: dict[str, str]) -> str:
    """The commands that give each cell of `plan` its site, for Yosys, after synthesis and before `write_json`."""
    lines = (f'setattr -set BEL "{site}" c:{name}\n' for name, site in plan.items())
    return "# sites of multipliers and memory blocks: run after synth_ecp5, before write_json\n" + "".join(lines)


def _order(name: str) -> tuple[int, list[tuple[int, str]]]:
    """The key that puts blocks in the order of their stages, and a stage's blocks in the order of their names."""
    return _stage(name), natural(name)


def natural(name: str) -> list[tuple[int, str]]:
    """The key that puts column_10 after column_9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
