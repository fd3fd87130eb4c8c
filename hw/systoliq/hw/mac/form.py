"""The form of a multiply-accumulate: the implementation of the interface `Mac` for a set of cells."""

from __future__ import annotations

import abc

from amaranth.hdl import Cat, Module, Value, ValueCastable

from ..config import ArrayConfig
from .parts import Part

__all__ = ["Form", "as_signed"]


class Form(abc.ABC):
    """Implementation of a `Mac` with the cells of one family; it keeps the contract of `Mac`."""

    skew = 0
    """Cycles by which each pair of operands comes after the one before it: pair i after ``i * skew``."""

    columns = 1
    """Columns of B that share ``a``: 1 or 2."""

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config

    @property
    @abc.abstractmethod
    def latency(self) -> int:
        """Cycles from operands to the sum that includes them, its first part."""

    @property
    def parts(self) -> list[Part]:
        """The parts in which a column's sum comes."""
        return [Part(0, self.config.word_bits, 0)]

    @property
    @abc.abstractmethod
    def clear_delay(self) -> int:
        """Cycles from the first operands of a sum to its ``clear``."""

    @abc.abstractmethod
    def elaborate(self, m: Module, a: ValueCastable, b: ValueCastable, clear: Value, platform: object) -> Value:
        """The sum, of ``word_bits`` bits, by hardware that it puts into ``m``; operands as in `Mac`."""


def as_signed(operand: Value) -> Value:
    """The operand as a signed number, one bit wider where it was not one."""
    return operand if operand.shape().signed else Cat(operand, 0)
