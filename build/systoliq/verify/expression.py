"""Verilog expressions as trees: `parser` builds them, `evaluate` computes their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "Binary", "Call", "Concat", "Constant", "Expression", "Name", "Signed", "Ternary", "Unary", "UnreadableError",
    "walk",
]  # fmt: skip


class UnreadableError(ValueError):
    """The Verilog is not as systoliq emits it: an unsupported form, or a missing part."""


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant; `value` is None if one of its bits is x."""

    value: int | None
    width: int
    signed: bool


@dataclass(frozen=True, eq=False)
class Name:
    """A net, or `width` bits of it from `low` up (all if `width` is None); a word if it names a memory."""

    name: str
    low: Expression | None = None
    width: int | None = None


@dataclass(frozen=True, eq=False)
class Unary:
    """Negation or reduction."""

    operator: str
    operand: Expression


@dataclass(frozen=True, eq=False)
class Binary:
    """Arithmetic, comparison, shift or logic."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Ternary:
    """`condition ? yes : no`."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, eq=False)
class Concat:
    """Parts, the most significant first."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Signed:
    """`$signed(operand)` or `$unsigned(operand)`."""

    operand: Expression
    signed: bool


@dataclass(frozen=True, eq=False)
class Call:
    """A function of the module."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Constant | Name | Unary | Binary | Ternary | Concat | Signed | Call


def walk(expression: Expression | None) -> Iterator[Expression]:
    """The expression and all within it."""
    if expression is None:
        return
    yield expression
    match expression:
        case Name(_, low, _):
            yield from walk(low)
        case Unary(_, operand) | Signed(operand, _):
            yield from walk(operand)
        case Binary(_, left, right):
            yield from walk(left)
            yield from walk(right)
        case Ternary(condition, yes, no):
            for each in (condition, yes, no):
                yield from walk(each)
        case Concat(parts) | Call(_, parts):
            for each in dict.fromkeys(parts):
                yield from walk(each)
