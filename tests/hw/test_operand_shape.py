"""Shapes of operands: bits and sign of each format."""

from __future__ import annotations

import pytest
from amaranth.hdl import signed, unsigned

from systoliq.golden import E5M2, INT8, IntFormat
from systoliq.hw.operand_shape import operand_shape


@pytest.mark.parametrize(
    ("form", "shape"), [(INT8, signed(8)), (IntFormat(5, signed=False), unsigned(5)), (E5M2, unsigned(8))], ids=str
)
def test_shape(form, shape):
    assert operand_shape(form) == shape
