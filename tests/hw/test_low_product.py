"""The lowest bits of a product, operands of either sign and of any width, against Python's integers."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.low_product import low_product, low_product_latency

from .bench import corner_of, traces, with_models

BITS = (1, 2, 3, 5, 6, 8)
OPERANDS = [(8, True, 8, True), (8, False, 8, True), (8, True, 8, False), (4, True, 7, False), (2, False, 9, True)]
CYCLES = 200


class Low(wiring.Component):
    def __init__(self, bits, a, b):
        self.bits = bits
        self.kind = f"low_{bits}_{a}_{b}".replace("(", "").replace(")", "")
        super().__init__({"a": In(a), "b": In(b), "low": Out(bits)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.low.eq(low_product(m, self.a, self.b, self.bits, name="low"))
        return m


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_low_product(tmp_path, cells):
    rng = random.Random(1)
    shapes = [(Shape(a, a_signed), Shape(b, b_signed)) for a, a_signed, b, b_signed in OPERANDS]
    blocks = [Low(bits, a, b) for bits in BITS for a, b in shapes]
    stimuli = [
        [
            {name: corner_of(rng, len(port), signed=port.shape().signed) for name, port in (("a", b.a), ("b", b.b))}
            for _ in range(CYCLES)
        ]
        for b in blocks
    ]
    for block, given, lines in zip(blocks, stimuli, traces(blocks, stimuli, cells=cells, folder=tmp_path), strict=True):
        latency = low_product_latency(block.bits)
        found = [line["low"] for line in lines[latency:]]
        expected = [line["a"] * line["b"] % (1 << block.bits) for line in given[: CYCLES - latency]]
        assert found == expected, block.kind
