"""Modules as read from the Verilog: wires and their drivers, memories, instances and multiplexers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from .expression import Expression

__all__ = ["Assignment", "Function", "Instance", "Module", "Wire"]


@dataclass(frozen=True)
class Wire:
    """A net, register or port of `width` bits; a memory if `words` is not 0."""

    width: int
    signed: bool = False
    words: int = 0
    register: bool = False


@dataclass(frozen=True, eq=False)
class Assignment:
    """`target` takes `value`: at all times, or at each clock edge, or at those at which the `condition` holds."""

    target: Expression
    value: Expression
    condition: Expression | None = None


@dataclass(frozen=True, eq=False)
class Instance:
    """Module `kind` placed as `name`; parameters are plain texts and numbers."""

    kind: str
    name: str
    ports: dict[str, Expression]
    parameters: dict[str, str]


@dataclass(frozen=True, eq=False)
class Function:
    """A multiplexer, written as a function: the result is the first case whose pattern matches the last argument."""

    width: int
    arguments: tuple[tuple[str, int], ...]
    cases: tuple[tuple[str, Expression], ...]  # pattern of 0, 1 and ?, most significant first
    otherwise: Expression


@dataclass(eq=False)
class Module:
    """One module: `assignments` are continuous, `clocked` ones take effect at a clock edge.

    `memories` have their words by address: an array of all words if they come from a file. `initial` has what
    registers hold at power-up.
    """

    name: str
    wires: dict[str, Wire] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)
    outputs: set[str] = field(default_factory=set)
    assignments: list[Assignment] = field(default_factory=list)
    clocked: list[Assignment] = field(default_factory=list)
    held: set[str] = field(default_factory=set)  # registers and memories that keep their value at some clock edges
    instances: dict[str, Instance] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    memories: dict[str, dict[int, int] | npt.NDArray[Any]] = field(default_factory=dict)
    initial: dict[str, int] = field(default_factory=dict)

    @property
    def followed(self) -> list[Assignment]:
        """Assignments of values that nets have at all times, registers taken for wires."""
        return self.assignments + [each for each in self.clocked if each.condition is None]

    @property
    def output_widths(self) -> dict[str, int]:
        """Bits of each output."""
        return {name: self.wires[name].width for name in self.outputs}
