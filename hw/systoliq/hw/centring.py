"""Centring: zero points are subtracted from A at the input, so that the array needs no zero points.

This applies to zero points that come with A, and to a layer's constant zero point with float8 weights: an operand that
equals its zero point must be 0 when it is multiplied by an infinity.

Differences of two numbers of a format are signed and one bit wider. That bit is all that the array pays; the
alternative, a product of each row's zero point with each column's sum of weights, would cost a multiplier per lane, and
a memory for the zero points of rows under way.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import Format

from .mac import operand_layout
from .sequencer import a_beat

__all__ = ["Centring", "array_format", "is_centred"]

_MOST_BITS = 15  # of A, as the array takes 16


def array_format(layer: MatMulLayer) -> Format:
    """The format of A in the array: the layer's own, or the format of the differences if `is_centred`.

    Raises ValueError where these would be wider than the array's operands can be.
    """
    if not is_centred(layer):
        return layer.a_format
    if layer.a_format.bits > _MOST_BITS:
        where = "comes at run time" if layer.takes_zero_points else "meets float8"
        raise ValueError(
            f"a must have at most {_MOST_BITS} bits where its zero point {where}, not {layer.a_format.bits}: "
            "differences are a bit wider"
        )
    return IntFormat(layer.a_format.bits + 1, signed=True)


def is_centred(layer: MatMulLayer) -> bool:
    """True if the array multiplies differences of A and its zero point."""
    return layer.takes_zero_points or bool(layer.a_zero_point and not layer.multiplies_integers)


class Centring(wiring.Component):
    """Beats of ``rows`` rows of ``depth`` operands each, less ``zero_point``: one for all, or, where it is None, their
    row's, which comes with every beat.

    Nothing is held back: ``o`` follows ``i`` in the same cycle.
    """

    kind = "centring"

    def __init__(self, a: IntFormat, *, rows: int, depth: int, zero_point: int | None = None) -> None:
        self.a = a
        self.zero_point = zero_point
        centred = data.ArrayLayout(operand_layout(IntFormat(a.bits + 1, signed=True), depth), rows)
        beat = data.StructLayout(
            {
                "data": data.ArrayLayout(operand_layout(a, depth), rows),
                **({"zero_points": operand_layout(a, rows)} if zero_point is None else {}),
                "last": 1,
            }
        )
        self._rows, self._depth = rows, depth
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(a_beat(centred)))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        taken, given = self.i.payload, self.o.payload
        m.d.comb += [given.last.eq(taken.last), self.o.valid.eq(self.i.valid), self.i.ready.eq(self.o.ready)]
        for row in range(self._rows):
            zero_point = taken.zero_points[row] if self.zero_point is None else self.zero_point
            for element in range(self._depth):
                m.d.comb += given.data[row][element].eq(taken.data[row][element] - zero_point)
        return m
