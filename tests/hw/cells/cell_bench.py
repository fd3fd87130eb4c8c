"""A function that places cells, as a block with ports."""

from __future__ import annotations

import random

from amaranth.hdl import Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bench import corner_of


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
