"""Pieces of nets: the bits of a variable in a value, and the bits of nets that an assignment gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .expression import Concat, Constant, Expression, Name, UnreadableError
from .modules import Module
from .widths import width_of

__all__ = ["Piece", "parts_of"]


@dataclass(frozen=True)
class Piece:
    """`width` bits of a variable of `size` bits, from its bit `low` up; they are at `place` in a value."""

    variable: str
    low: int
    width: int
    size: int
    place: int


def parts_of(module: Module, target: Expression) -> Iterator[tuple[str, int, int]]:
    """The parts of the target of an assignment, the least significant first: name, low bit and width."""
    for each in reversed(target.parts) if isinstance(target, Concat) else (target,):
        if not isinstance(each, Name):
            raise UnreadableError(f"module {module.name} assigns to what is no net")
        low = each.low.value or 0 if isinstance(each.low, Constant) else 0
        yield each.name, low, width_of(module, each)
