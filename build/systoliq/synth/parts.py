"""Parts: the cells of a netlist, split by the part of the design that they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from .sites import sites_of_cells
from .yosys import DSPS, RAMS, is_register, top_of

__all__ = ["figures_of_parts"]


def figures_of_parts(folder: Path, part_of: Callable[[str], str]) -> dict[str, dict[str, int]]:
    """For each part, the largest first: its `lut_sites`, `ff`, `dsp` and `ram` in the netlist that Yosys left there.

    `part_of` names the part that a cell lies in from its hierarchical name: Yosys names cells after signals. Their sums
    are the netlist's: place and route adds a few sites.
    """
    top = top_of(folder)
    sites = sites_of_cells(top)
    parts: dict[str, Counter[str]] = {}
    for name, cell in top["cells"].items():
        kind = cell["type"]
        counted = {
            "lut_sites": sites.get(name, 0),
            "ff": int(is_register(kind)),
            "dsp": DSPS.get(kind, 0),
            "ram": RAMS.get(kind, 0),
        }
        parts.setdefault(part_of(name), Counter()).update(counted)
    ordered = sorted(parts, key=lambda part: (-parts[part]["lut_sites"], part))
    return {part: dict(parts[part]) for part in ordered}
