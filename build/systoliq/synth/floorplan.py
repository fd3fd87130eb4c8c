"""Floorplan: assigns an array's multipliers to sites of the part, for a placer that would scatter them.

A part's multipliers lie in a few rows, far apart. nextpnr's placers do not keep neighbours together, and the wires from
one column's multipliers to the next column's become the longest of a large array. In the floorplan, columns of an array
are strips from left to right, each over all of the part's rows and as wide as needed; the elements of a column fill its
strip row by row. A moves to the next strip, B down its own. Multipliers of other blocks follow to the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from .target import MultiplierSites

__all__ = ["floorplan", "floorplan_script"]

_COLUMN = re.compile(r"(?P<array>.*)\.column_(?P<column>\d+)\.")


def floorplan(multipliers: Iterable[str], sites: MultiplierSites | None) -> dict[str, str]:
    """The site of each of `multipliers`, which are hierarchical names; empty where the placer does as well alone.

    This is the case if the array has no more multipliers than one row of the part, if there are several arrays or none,
    and if the strips do not fit side by side.
    """
    names = sorted(multipliers, key=_natural)
    found = {name: match for name in names if (match := _COLUMN.match(name))}
    if sites is None or len({match["array"] for match in found.values()}) != 1 or len(found) <= len(sites.columns):
        return {}
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


def floorplan_script(plan: dict[str, str]) -> str:
    """The commands that give each cell of `plan` its site, for Yosys, after synthesis and before `write_json`."""
    lines = (f'setattr -set BEL "{site}" c:{name}\n' for name, site in plan.items())
    return "# multipliers of the array beside each other: run after synth_ecp5, before write_json\n" + "".join(lines)


def _natural(name: str) -> list[tuple[int, str]]:
    """The key that puts column_10 after column_9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
