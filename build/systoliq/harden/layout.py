"""Routed layout in DEF: its outline, cells and wires, in micrometres."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Cell", "Layout", "Wire", "read_layout", "sizes_of"]


@dataclass(frozen=True)
class Cell:
    """An instance of `kind` with its lower left corner at `x` and `y`."""

    kind: str
    x: float
    y: float


@dataclass(frozen=True)
class Wire:
    """A straight piece of wire on `layer` from one point to another."""

    layer: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The outline (`left`, `bottom`, `right`, `top`), cells and wires."""

    outline: tuple[float, float, float, float]
    cells: tuple[Cell, ...]
    wires: tuple[Wire, ...]

    @property
    def area(self) -> float:
        """Area of the outline in square micrometres."""
        left, bottom, right, top = self.outline
        return (right - left) * (top - bottom)

    @property
    def wire_length(self) -> float:
        """Length of all wires in micrometres."""
        return sum(abs(wire.x1 - wire.x0) + abs(wire.y1 - wire.y0) for wire in self.wires)


_CELL = re.compile(r"^- \S+ (\S+) \+ (?:PLACED|FIXED) \( (-?\d+) (-?\d+) \)", re.MULTILINE)
_PIECE = re.compile(r"(?:ROUTED|NEW) (metal\d)(?: \d+)? \( (-?\d+) (-?\d+) \) \( (\*|-?\d+) (\*|-?\d+) \)")


def read_layout(text: str) -> Layout:
    """Return the layout in a DEF file of qrouter. Raises ValueError if the text has no DIEAREA."""
    units = re.search(r"UNITS DISTANCE MICRONS (\d+)", text)
    outline = re.search(r"DIEAREA \( (-?\d+) (-?\d+) \) \( (-?\d+) (-?\d+) \)", text)
    if units is None or outline is None:
        raise ValueError("the text must be a DEF file with UNITS and DIEAREA")
    scale = 1 / int(units[1])
    left, bottom, right, top = (int(each) * scale for each in outline.groups())
    cells = tuple(Cell(kind, int(x) * scale, int(y) * scale) for kind, x, y in _CELL.findall(text))
    return Layout(outline=(left, bottom, right, top), cells=cells, wires=tuple(_wires(text, scale)))


def _wires(text: str, scale: float) -> Iterator[Wire]:
    for layer, x0, y0, x1, y1 in _PIECE.findall(text):
        ends = (x0, y0, x0 if x1 == "*" else x1, y0 if y1 == "*" else y1)
        yield Wire(layer, *(int(each) * scale for each in ends))


def sizes_of(lef: str) -> Mapping[str, tuple[float, float]]:
    """Return width and height of each macro of a LEF file, in micrometres."""
    found = re.findall(r"^MACRO (\S+)$.*?^\s*SIZE\s+([\d.]+)\s+BY\s+([\d.]+)", lef, re.MULTILINE | re.DOTALL)
    return {name: (float(width), float(height)) for name, width, height in found}
