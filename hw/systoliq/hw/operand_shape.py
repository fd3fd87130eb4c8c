"""Shapes of operands: the formats of `systoliq.golden` as Amaranth shapes."""

from __future__ import annotations

from amaranth.hdl import Shape, signed, unsigned

from systoliq.golden.operand import Format

__all__ = ["operand_shape"]


def operand_shape(form: Format) -> Shape:
    """A number, or a code, of the format ``form``."""
    return signed(form.bits) if form.signed else unsigned(form.bits)
