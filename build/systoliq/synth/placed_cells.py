"""Cells of a placed netlist: the tile of each, as nextpnr wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["PlacedCell", "placed_cells"]

_BEL = re.compile(r"X(\d+)/?Y(\d+)/")


@dataclass(frozen=True)
class PlacedCell:
    """A cell of nextpnr's `kind` in the tile at `x` and `y`."""

    name: str
    kind: str
    x: int
    y: int


def placed_cells(netlist: Mapping[str, Any]) -> Iterator[PlacedCell]:
    """Yield the cells of a netlist that nextpnr placed and wrote, in Yosys' JSON; pads and constants have no tile."""
    for module in netlist["modules"].values():
        for name, cell in module.get("cells", {}).items():
            if found := _BEL.match(cell.get("attributes", {}).get("NEXTPNR_BEL", "")):
                yield PlacedCell(name, cell["type"], int(found[1]), int(found[2]))
