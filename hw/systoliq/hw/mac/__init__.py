"""Multiply-accumulate: one interface (`Mac`), and for each family of cells a form of it behind that interface."""

from .interface import Mac, multipliers_of, operand_layout
from .operand_sum import OperandSum
from .parts import Part, together

__all__ = ["Mac", "OperandSum", "Part", "multipliers_of", "operand_layout", "together"]
