"""The space: axes with their values, and the points of their grid."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from systoliq.golden.requantization import MANTISSA_BITS
from systoliq.hw.cells import CELLS

from ..design.choose import REQUANTIZERS
from ..errors import InputError
from ..synth.targets import TARGETS
from .ranges import parse_range, parse_words

__all__ = ["AXES", "Point", "Space"]

AXES = ("rows", "cols", "depth", "a_bits", "b_bits", "requantizer", "requantizer_bits", "cells", "target")
_COUNTS = ("rows", "cols", "depth", "a_bits", "b_bits", "requantizer_bits")
_WORDS = {"requantizer": REQUANTIZERS, "cells": ("auto", *CELLS), "target": tuple(TARGETS)}


@dataclass(frozen=True, kw_only=True, order=True)
class Point:
    """One design: the array, the operand widths, the requantizer, the cells and the device.

    `requantizer_bits` is the width of the multiplier; 0 where the requantizer "auto" chooses it. `cells` "auto" are
    those of the device's family where `systoliq.hw` has them.
    """

    rows: int
    cols: int
    depth: int
    a_bits: int
    b_bits: int
    requantizer: str = "near-tie"
    requantizer_bits: int = MANTISSA_BITS
    cells: str = "auto"
    target: str = "ecp5-85k"

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
    """The values of every axis."""

    axes: Mapping[str, tuple[Any, ...]]

    @classmethod
    def parse(cls, **axes: Any) -> Space:
        """From ranges (`ranges.parse_range`) and words, axis by axis; every axis of `AXES` must be there."""
        parsed: dict[str, tuple[Any, ...]] = {}
        for name in AXES:
            if name in _WORDS:
                parsed[name] = parse_words(name, axes[name], _WORDS[name])
            else:
                parsed[name] = parse_range(name, axes[name])
        if parsed["requantizer_bits"][0] < 1 or parsed["requantizer_bits"][-1] > MANTISSA_BITS:
            raise InputError(f"requantizer_bits must be within 1 to {MANTISSA_BITS}, not {axes['requantizer_bits']!r}")
        return cls(axes=parsed)

    @property
    def size(self) -> int:
        """Points of the full grid, those that are the same counted each."""
        return math.prod(len(values) for values in self.axes.values())

    def points(self) -> Iterator[Point]:
        """The grid, each point once."""
        seen = set()
        for values in itertools.product(*(self.axes[name] for name in AXES)):
            point = self.point(dict(zip(AXES, values, strict=True)))
            if point not in seen:
                seen.add(point)
                yield point

    @staticmethod
    def point(values: Mapping[str, Any]) -> Point:
        """The point with these values of the axes."""
        point = Point(**values)
        return dataclasses.replace(point, requantizer_bits=0) if point.requantizer == "auto" else point
