"""A function that places cells, as a block with ports."""

from __future__ import annotations

import random

from amaranth.hdl import Module, Shape, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bench import corner_of, traces


class Cell(wiring.Component):
    """`build(m, block)` puts into `m` what drives the outputs of `block`."""

    def __init__(self, inputs, outputs, build):
        self._build = build
        super().__init__(
            {name: In(shape) for name, shape in inputs.items()} | {name: Out(shape) for name, shape in outputs.items()}
        )

    def elaborate(self, platform):
        m = Module()
        self._build(m, self)
        return m


def random_lines(inputs, cycles, seed):
    rng = random.Random(seed)
    shapes = {name: Shape.cast(shape) for name, shape in inputs.items()}
    return [
        {name: corner_of(rng, shape.width, signed=shape.signed) for name, shape in shapes.items()}
        for _ in range(cycles)
    ]


def check_clearing_adder(clearing_adder, cells, folder, *, carried, cycles=80):
    """Sums of one cycle, with and without what was held, with a carry in if `carried`, of even widths with one out."""

    def build(m, block):
        carry = block.carry if carried else None
        total = clearing_adder(
            m, block.term, block.held, block.clear, name="sum", carry_in=carry, carry_out=len(block.held) % 2 == 0
        )
        m.d.comb += block.total.eq(total)

    widths = (1, 6, 13, 24)
    inputs = [{"term": signed(min(bits, 9)), "held": bits, "clear": 1, "carry": 1} for bits in widths]
    blocks = [Cell(each, {"total": each["held"] + 1}, build) for each in inputs]
    given = [random_lines(each, cycles, 3) for each in inputs]
    for bits, lines, shown in zip(widths, given, traces(blocks, given, cells=cells, folder=folder), strict=True):
        for line, found in zip(lines, shown, strict=True):
            held, carry = 0 if line["clear"] else line["held"], line["carry"] if carried else 0
            total = (line["term"] % (1 << bits)) + held + carry
            wanted = total if bits % 2 == 0 else total % (1 << bits)
            assert found["total"] == wanted, (bits, line)
