"""Numbers in parts: where they are cut, and that their sums are those of whole numbers."""

from __future__ import annotations

import itertools

import pytest
from amaranth.hdl import Cat, Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.adder_tree import adder_tree_latency
from systoliq.hw.delay import delay
from systoliq.hw.mac.parts import cuts, extended, skewed, skewed_sum

from ..bench import corner_of, random, trace, wrapped


@pytest.mark.parametrize("bits", range(1, 97))
def test_parts_are_alike_and_begin_at_even_places(bits):
    at = cuts(bits, 24)
    assert at[0] == 0
    assert at[-1] == bits
    assert all(0 < end - start <= 25 for start, end in itertools.pairwise(at))
    assert not any(place % 2 for place in at[:-1])


class Summed(wiring.Component):
    """The sum of terms in parts, put together again."""

    def __init__(self, count: int, bits: int, total_bits: int) -> None:
        self.at = cuts(total_bits, 7)
        self.latency = adder_tree_latency(count) + len(self.at) - 2
        self.names = [f"term_{i}" for i in range(count)]
        terms = {name: In(signed(bits)) for name in self.names}
        super().__init__({**terms, "total": Out(signed(total_bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        terms = [getattr(self, name) for name in self.names]
        parts = [skewed(m, term, self.at, name=name) for name, term in zip(self.names, terms, strict=True)]
        total = skewed_sum(m, parts, len(terms[0]), self.at, name="sum")
        whole = []
        for i, (part, (start, end)) in enumerate(zip(total, itertools.pairwise(self.at), strict=True)):
            whole.append(delay(m, extended(part, end - start), len(total) - 1 - i, name=f"whole_{i}"))
        m.d.comb += self.total.eq(Cat(whole))
        return m


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize(("bits", "total_bits"), [(3, 5), (7, 8), (8, 24), (20, 21), (20, 20), (5, 40)])
def test_sums_are_those_of_whole_numbers(count, bits, total_bits):
    rng = random.Random(count * bits)
    dut = Summed(count, bits, total_bits)
    lines = [{name: corner_of(rng, bits) for name in dut.names} for _ in range(60)]
    shown = trace(dut, lines + [{}] * dut.latency)
    found = [line["total"] for line in shown[dut.latency :]]
    assert found == [wrapped(sum(line.values()), total_bits) for line in lines]
