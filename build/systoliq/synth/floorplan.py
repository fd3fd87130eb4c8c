"""Floorplan: assigns an array's multipliers to sites of the part, for a placer that would scatter them.

A part's multipliers lie in a few rows, far apart. nextpnr's placers do not keep neighbours together, and the wires from
one column's multipliers to the next column's become the longest of a large array. In the floorplan, columns of an array
are strips from left to right, each over all of the part's rows and as wide as needed; the elements of a column fill its
strip row by row. A moves to the next strip, B down its own. Multipliers of other blocks follow to the right.

In a network, which has several arrays, stages are strips from left to right in the order of the pipeline, and memory
blocks lie nearest to the middle of their stage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product

from .target import BlockSites

__all__ = ["floorplan", "floorplan_line", "floorplan_script"]

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
    middles: dict[int, list[tuple[int, int]]] = {}
    for name, (column, row) in places.items():
        middles.setdefault(_stage(name), []).append((sites.columns[column][0], sites.rows[row]))
    plan = {name: sites.name(*place) for name, place in places.items()}
    for name in memories:
        x, y = _middle(middles, _stage(name), sites)
        plan[name] = free.pop(min(free, key=lambda site: (abs(site[0] - x) + abs(site[1] - y), site)))
    return plan


def _middle(taken: dict[int, list[tuple[int, int]]], stage: int, sites: BlockSites) -> tuple[float, float]:
    """X and Y of the middle of a stage; of one without multipliers, where the next one begins."""
    if stage in taken:
        xs, ys = zip(*taken[stage], strict=True)
        return sum(xs) / len(xs), sum(ys) / len(ys)
    later = [x for each, places in taken.items() if each > stage for x, _ in places]
    return min(later, default=sites.columns[-1][0]), sum(sites.rows) / len(sites.rows)


def _stage(name: str) -> int:
    """Number of the stage that a block lies in; the first for blocks of none."""
    match = _STAGE.search(name)
    return int(match["stage"]) if match else 0


def floorplan_line(plan: Mapping[str, str]) -> str:
    """Return what `plan` places, and how."""
    memories = sum("EBR" in site for site in plan.values())
    if not memories:
        return f"{len(plan)} multipliers, the columns of the array are strips from left to right"
    return f"{len(plan) - memories} multipliers and {memories} memory blocks, the stages are strips from left to right"


def floorplan_script(plan: dict[str, str]) -> str:
    """The commands that give each cell of `plan` its site, for Yosys, after synthesis and before `write_json`."""
    lines = (f'setattr -set BEL "{site}" c:{name}\n' for name, site in plan.items())
    return "# sites of multipliers and memory blocks: run after synth_ecp5, before write_json\n" + "".join(lines)


def _order(name: str) -> tuple[int, list[tuple[int, str]]]:
    """The key that puts blocks in the order of their stages, and a stage's blocks in the order of their names."""
    return _stage(name), _natural(name)


def _natural(name: str) -> list[tuple[int, str]]:
    """The key that puts column_10 after column_9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
