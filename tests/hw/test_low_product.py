"""The lowest bits of a product in lookup tables: of operands of every sign, also narrower ones, as Python has them."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.low_product import low_product, low_product_latency

from .bench import corner_of, traces, with_models

SHAPES = [  # operands, bits of the result
    *((Shape(8, a), Shape(8, b), bits) for a in (True, False) for b in (True, False) for bits in range(1, 9)),
    *((Shape(16, True), Shape(5, b), 8) for b in (True, False)),
    *((Shape(2, a), Shape(9, True), 3) for a in (True, False)),
]
CYCLES = 300


class Low(wiring.Component):
    def __init__(self, a, b, bits):
        self.kind = f"low_{a.width}{'us'[a.signed]}_{b.width}{'us'[b.signed]}_{bits}"
        super().__init__({"a": In(a), "b": In(b), "low": Out(bits)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.low.eq(low_product(m, self.a, self.b, len(self.low), name="low"))
        return m


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_low_product(tmp_path, cells):
    rng = random.Random(0)
    blocks = [Low(*shapes) for shapes in SHAPES]
    stimuli = [
        [
            {name: corner_of(rng, shape.width, signed=shape.signed) for name, shape in (("a", a), ("b", b))}
            for _ in range(CYCLES)
        ]
        for a, b, _ in SHAPES
    ]
    shown = traces(blocks, stimuli, cells=cells, folder=tmp_path)
    for block, given, lines in zip(blocks, stimuli, shown, strict=True):
        bits = len(block.low)
        latency = low_product_latency(bits)
        found = [line["low"] for line in lines[latency:]]
        assert found == [line["a"] * line["b"] % (1 << bits) for line in given[: CYCLES - latency]], block.kind
