"""Liberty files as far as energy needs them: pins with their capacitances, and tables of delay, slope and energy."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import InputError

__all__ = ["Arc", "Group", "LibraryCell", "LibraryFigures", "Pin", "Power", "Table", "read_figures", "read_group"]

_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|\\\r?\n|"(?P<text>[^"]*)"|(?P<mark>[{}():;,])|(?P<word>[^\s{}():;,"]+)', re.DOTALL
)
_FARADS = {"ff": 1e-3, "pf": 1.0}
_NANOSECONDS = {"1ps": 1e-3, "10ps": 1e-2, "100ps": 1e-1, "1ns": 1.0}
_EDGES = ("rise", "fall")


@dataclass(kw_only=True)
class Group:
    """A group of a Liberty file: its kind and arguments, its attributes as text, and the groups in it."""

    kind: str
    arguments: tuple[str, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)

    def all(self, kind: str) -> Iterator[Group]:
        """Return the groups of this kind."""
        return (group for group in self.groups if group.kind == kind)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Values over the load at the output (pF) and the slope of the input (ns), or over one of them, or one value.

    Between the points, and beyond them, a value is interpolated from the nearest points along each axis.
    """

    axes: tuple[tuple[str, tuple[float, ...]], ...]
    values: tuple[float, ...]

    def at(self, slope: float, load: float) -> float:
        """Return the value for an input of this `slope` and an output with this `load`."""
        found = {"slope": slope, "load": load}
        return _interpolated(self.axes, self.values, found)

    def scaled(self, by: float) -> Table:
        """Return the table with its values times `by`."""
        return Table(axes=self.axes, values=tuple(value * by for value in self.values))


def _interpolated(
    axes: Sequence[tuple[str, tuple[float, ...]]], values: Sequence[float], found: Mapping[str, float]
) -> float:
    if not axes:
        return values[0]
    (name, points), rest = axes[0], axes[1:]
    size = len(values) // len(points)
    if len(points) == 1:
        return _interpolated(rest, values, found)
    at = min(max(bisect_right(points, found[name]) - 1, 0), len(points) - 2)
    share = (found[name] - points[at]) / (points[at + 1] - points[at])
    low = _interpolated(rest, values[at * size : (at + 1) * size], found)
    high = _interpolated(rest, values[(at + 1) * size : (at + 2) * size], found)
    return low + share * (high - low)


@dataclass(frozen=True, kw_only=True)
class Arc:
    """From the pin `related` to an output: delay and slope (ns) by the output's edge, and edges that cause it."""

    related: str
    sense: str
    delay: Mapping[str, Table]
    slope: Mapping[str, Table]

    def causes(self, edge: str) -> tuple[str, ...]:
        """Return the edges of `related` that may cause this `edge` of the output."""
        if self.sense == "positive_unate":
            return (edge,)
        return tuple(each for each in _EDGES if each != edge) if self.sense == "negative_unate" else _EDGES


@dataclass(frozen=True, kw_only=True)
class Power:
    """Energy (pJ) within a cell of an edge of a pin: of an output, caused by the pin `related`."""

    related: str | None
    energy: Mapping[str, Table]


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A pin of a cell: `capacitance` in pF."""

    output: bool
    clock: bool
    capacitance: float
    arcs: tuple[Arc, ...]
    powers: tuple[Power, ...]


@dataclass(frozen=True, kw_only=True)
class LibraryCell:
    """A cell: its `leakage` in nW, and whether it holds a bit (`register`)."""

    pins: Mapping[str, Pin]
    register: bool
    leakage: float


@dataclass(frozen=True, kw_only=True)
class LibraryFigures:
    """The cells of a library by name, its `volts`, and its shortest `slope` (ns) of an input."""

    name: str
    volts: float
    slope: float
    cells: Mapping[str, LibraryCell]


def read_group(text: str) -> Group:
    """Return the outermost group of a Liberty file; InputError if there is none."""
    tokens = [_Token(each["text"], each["mark"], each["word"]) for each in _TOKEN.finditer(text) if each.lastgroup]
    tokens.append(_Token(None, "end", None))
    top = Group(kind="", arguments=())
    within, at = [top], 0
    while at + 1 < len(tokens):
        word, following = tokens[at].word, tokens[at + 1].mark
        if tokens[at].mark == "}" and len(within) > 1:
            within.pop()
        elif word is not None and following == ":":
            end = _next(tokens, at, (";", "}"))
            within[-1].attributes[word] = " ".join(token.content for token in tokens[at + 2 : end])
            at = end - 1
        elif word is not None and following == "(":
            end = _next(tokens, at, (")",))
            arguments = tuple(token.content for token in tokens[at + 2 : end] if token.mark is None)
            at = end
            if end + 1 < len(tokens) and tokens[end + 1].mark == "{":
                group = Group(kind=word, arguments=arguments)
                within[-1].groups.append(group)
                within.append(group)
            else:
                within[-1].lists[word] = arguments
        at += 1
    found = next(top.all("library"), None)
    if found is None:
        raise InputError("a Liberty file must have a library group")
    return found


class _Token(NamedTuple):
    text: str | None
    mark: str | None
    word: str | None

    @property
    def content(self) -> str:
        return self.text or self.mark or self.word or ""


def _next(tokens: Sequence[_Token], at: int, marks: tuple[str, ...]) -> int:
    """The place of the next of these marks, or the end."""
    return next((place for place in range(at + 2, len(tokens)) if tokens[place].mark in marks), len(tokens) - 1)


def read_figures(text: str) -> LibraryFigures:
    """Return the figures of a Liberty file; InputError if it has no tables of energy or no voltage."""
    library = read_group(text)
    name = library.arguments[0] if library.arguments else "library"
    units = _Units.of(library)
    volts = float(library.attributes.get("nom_voltage", "0"))
    cells = {cell.arguments[0]: _cell(cell, units) for cell in library.all("cell")}
    powers = [power for cell in cells.values() for pin in cell.pins.values() for power in pin.powers]
    if not powers or volts <= 0:
        missing = "internal_power groups" if not powers else "a nom_voltage"
        raise InputError(f"{name}: the Liberty file must have {missing} for energy, and has none")
    arcs = [arc for cell in cells.values() for pin in cell.pins.values() for arc in pin.arcs]
    slopes = [points[0] for arc in arcs for each in arc.delay.values() for axis, points in each.axes if axis == "slope"]
    return LibraryFigures(name=name, volts=volts, slope=min(slopes, default=0.0), cells=cells)


@dataclass(frozen=True, kw_only=True)
class _Units:
    """Factors to pF, ns and pJ, and the axes of each template of tables."""

    capacitance: float
    time: float
    templates: Mapping[str, Group]

    @staticmethod
    def of(library: Group) -> _Units:
        size, unit = (*library.lists.get("capacitive_load_unit", ("1", "pf")), "pf")[:2]
        time = library.attributes.get("time_unit", "1ns").replace(" ", "")
        templates = {group.arguments[0]: group for group in library.groups if group.kind.endswith("template")}
        return _Units(
            capacitance=float(size) * _FARADS[unit.strip().lower()], time=_NANOSECONDS[time], templates=templates
        )

    def table(self, group: Group, by: float) -> Table:
        template = self.templates.get(group.arguments[0]) if group.arguments else None
        axes = []
        for number in (1, 2, 3):
            variable = template.attributes.get(f"variable_{number}") if template is not None else None
            if template is None or variable is None:
                break
            points = group.lists.get(f"index_{number}") or template.lists.get(f"index_{number}", ())
            axis = "load" if "capacitance" in variable else "slope"
            factor = self.capacitance if axis == "load" else self.time
            axes.append((axis, tuple(value * factor for value in _numbers(points))))
        values = _numbers(group.lists.get("values", ()))
        size = math.prod(len(found) for _, found in axes)
        if size != len(values):
            raise InputError(f"a table {group.kind} must have {size} values, not {len(values)}")
        return Table(axes=tuple(axes), values=tuple(value * by for value in values))


def _numbers(texts: Sequence[str]) -> list[float]:
    return [float(word) for text in texts for word in text.replace(",", " ").split()]


def _cell(group: Group, units: _Units) -> LibraryCell:
    pins = {name: _pin(pin, units) for pin in group.all("pin") for name in pin.arguments}
    register = any(each.kind in ("ff", "latch", "ff_bank", "latch_bank") for each in group.groups)
    return LibraryCell(pins=pins, register=register, leakage=float(group.attributes.get("cell_leakage_power", "0")))


def _pin(group: Group, units: _Units) -> Pin:
    output = group.attributes.get("direction") == "output"
    arcs = []
    for timing in group.all("timing"):
        delay = {edge: units.table(each, units.time) for edge in _EDGES for each in timing.all(f"cell_{edge}")}
        slope = {edge: units.table(each, units.time) for edge in _EDGES for each in timing.all(f"{edge}_transition")}
        if output and delay:
            related = timing.attributes.get("related_pin", "")
            sense = timing.attributes.get("timing_sense", "non_unate")
            arcs += [Arc(related=name, sense=sense, delay=delay, slope=slope) for name in related.split()]
    energy = units.capacitance
    powers = []
    for each in group.all("internal_power"):
        tables = {edge: units.table(table, energy) for edge in _EDGES for table in each.all(f"{edge}_power")}
        both = [units.table(table, energy) for table in each.all("power")]
        tables = tables or {edge: table for edge in _EDGES for table in both}
        names: list[str | None] = [*each.attributes.get("related_pin", "").split()] or [None]
        powers += [Power(related=name, energy=tables) for name in names if tables]
    return Pin(
        output=output,
        clock=group.attributes.get("clock") == "true",
        capacitance=float(group.attributes.get("capacitance", "0")) * units.capacitance,
        arcs=tuple(arcs),
        powers=tuple(powers),
    )
