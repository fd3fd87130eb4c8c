"""Centring: zero points that come with A are taken off it where it enters, so that the array has none to know.

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

__all__ = ["Centring", "array_format"]

_MOST_BITS = 15  # of A, as the array takes 16


def array_format(layer: MatMulLayer) -> Format:
    """The format of A in the array: the layer's own, or that of differences where zero points come with A.

    Raises ValueError where these would be wider than the array's operands can be.
    """
    if not layer.takes_zero_points:
        return layer.a_format
    if layer.a_format.bits > _MOST_BITS:
        raise ValueError(
            f"a must have at most {_MOST_BITS} bits where its zero point comes at run time, not {layer.a_format.bits}: "
            "differences are a bit wider"
        )
    return IntFormat(layer.a_format.bits + 1, signed=True)


class Centring(wiring.Component):
    """Beats of ``rows`` rows of ``depth`` operands each, less their row's zero point, which comes with every beat.

    Nothing is held back: ``o`` follows ``i`` in the same cycle.
    """

    kind = "centring"

    def __init__(self, a: IntFormat, *, rows: int, depth: int) -> None:
        self.a = a
        centred = data.ArrayLayout(operand_layout(IntFormat(a.bits + 1, signed=True), depth), rows)
        beat = data.StructLayout(
            {
                "data": data.ArrayLayout(operand_layout(a, depth), rows),
                "zero_points": operand_layout(a, rows),
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
            for element in range(self._depth):
                m.d.comb += given.data[row][element].eq(taken.data[row][element] - taken.zero_points[row])
        return m
