"""Multiply-accumulate: one interface (`Mac`), and for each family of cells a form of it behind that interface."""

from .interface import Mac, operand_layout

__all__ = ["Mac", "operand_layout"]
