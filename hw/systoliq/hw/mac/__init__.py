"""Multiply-accumulate: one interface (`Mac`), and for each family of cells a form of it behind that interface."""

from .interface import Mac, operand_layout
from .operand_sum import OperandSum

__all__ = ["Mac", "OperandSum", "operand_layout"]
