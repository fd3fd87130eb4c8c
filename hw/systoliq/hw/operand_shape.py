"""Shapes of operands: what a format of golden's is as bits."""

from __future__ import annotations

from amaranth.hdl import Shape, signed, unsigned

from systoliq.golden.operand import Format

__all__ = ["operand_shape"]


def operand_shape(form: Format) -> Shape:
    """A number, or a code, of the format ``form``."""
    return signed(form.bits) if form.signed else unsigned(form.bits)
