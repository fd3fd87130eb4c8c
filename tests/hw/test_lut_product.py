"""Products in lookup tables: operands of any width, the second of either sign, against Python's integers."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.lut_product import lut_product, lut_product_latency

from .bench import corner_of, traces, with_models

SIGNED = [(8, 8), (8, 9), (5, 2), (7, 5), (25, 24)]  # of both factors
UNSIGNED = [(8, 8), (9, 9), (5, 1), (4, 3), (2, 16), (33, 6)]
CYCLES = 80


class Product(wiring.Component):
    def __init__(self, a_bits, b_bits, *, b_signed):
        self.kind = f"product_{a_bits}x{b_bits}{'su'[not b_signed]}"
        b = signed(b_bits) if b_signed else unsigned(b_bits)
        super().__init__({"a": In(signed(a_bits)), "b": In(b), "product": Out(signed(a_bits + b_bits))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.product.eq(lut_product(m, self.a, self.b, name="product"))
        return m


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_product(tmp_path, cells):
    rng = random.Random(0)
    blocks = [Product(*bits, b_signed=sign) for sign, sizes in ((True, SIGNED), (False, UNSIGNED)) for bits in sizes]
    stimuli = [
        [
            {"a": corner_of(rng, len(block.a)), "b": corner_of(rng, len(block.b), signed=block.b.shape().signed)}
            for _ in range(CYCLES)
        ]
        for block in blocks
    ]
    for block, given, lines in zip(blocks, stimuli, traces(blocks, stimuli, cells=cells, folder=tmp_path), strict=True):
        latency = lut_product_latency(len(block.b))
        found = [line["product"] for line in lines[latency:]]
        assert found == [line["a"] * line["b"] for line in given[: CYCLES - latency]], block.kind
