"""The space: axes with their values, and the points of their grid."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from systoliq.hw.cells import CELLS

from ...synth.targets import TARGETS
from .ranges import parse_range, parse_words

__all__ = ["CELLS_AXIS", "TARGET_AXIS", "Axis", "Point", "Space"]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis: its range where nothing is said, and its `words`; without words its values are whole numbers."""

    name: str
    default: str
    words: tuple[str, ...] = ()

    def parse(self, given: Any) -> tuple[Any, ...]:
        """The values that a range (`ranges.parse_range`) or words name."""
        return parse_words(self.name, given, self.words) if self.words else parse_range(self.name, given)


CELLS_AXIS = Axis(name="cells", default="auto", words=("auto", *CELLS))
TARGET_AXIS = Axis(name="target", default="ecp5-85k", words=tuple(TARGETS))


@dataclass(frozen=True, kw_only=True)
class Point:
    """One design on a device; each kind of subject adds its own axes.

    `cells` "auto" selects the cells of the device's family if `systoliq.hw` has them.
    """

    cells: str = CELLS_AXIS.default
    target: str = TARGET_AXIS.default

    @property
    def hardware_cells(self) -> str:
        """Cells by the name that `ArrayConfig` knows them by."""
        if self.cells != "auto":
            return self.cells
        return TARGETS[self.target].cells

    def as_dict(self) -> dict[str, Any]:
        """Axis by axis."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, kw_only=True)
class Space:
    """The values of every axis, and who makes a point of one of each."""

    axes: Mapping[str, tuple[Any, ...]]
    point: Callable[[Mapping[str, Any]], Point]

    @classmethod
    def parse(
        cls, axes: Sequence[Axis], point: Callable[[Mapping[str, Any]], Point], given: Mapping[str, Any]
    ) -> Space:
        """From ranges and words by the names of the axes; those that are not given, or None, have their defaults."""
        names = [axis.name for axis in axes]
        if unknown := sorted({name for name, value in given.items() if value is not None} - set(names)):
            raise TypeError(f"axes must be among {', '.join(names)}, not {unknown[0]!r}")
        values = {axis.name: axis.default if given.get(axis.name) is None else given[axis.name] for axis in axes}
        return cls(axes={axis.name: axis.parse(values[axis.name]) for axis in axes}, point=point)

    @property
    def size(self) -> int:
        """Points of the full grid, those that are the same counted each."""
        return math.prod(len(values) for values in self.axes.values())

    def points(self) -> Iterator[Point]:
        """The grid, each point once."""
        seen = set()
        for values in itertools.product(*self.axes.values()):
            point = self.point(dict(zip(self.axes, values, strict=True)))
            if point not in seen:
                seen.add(point)
                yield point
