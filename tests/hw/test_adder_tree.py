"""Adder tree: every number of terms, sums as wide as asked for, an addition of the owner's choice."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, Mux, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.adder_tree import adder_tree, adder_tree_latency

from .bench import corner_of, trace, wrapped


class Tree(wiring.Component):
    def __init__(self, terms, bits, total_bits, **options):
        self.bits = bits
        self.options = options
        super().__init__({"terms": In(data.ArrayLayout(signed(bits), terms)), "total": Out(signed(total_bits))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.total.eq(adder_tree(m, list(self.terms), self.bits, **self.options))
        return m


def run(tree, terms, bits, seed):
    rng = random.Random(seed)
    stimulus = [{"terms": [corner_of(rng, bits) for _ in range(terms)]} for _ in range(60)]
    return [line["terms"] for line in stimulus], [line["total"] for line in trace(tree, stimulus)]


@pytest.mark.parametrize(("terms", "latency"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (13, 4), (33, 6)])
@pytest.mark.parametrize("bits", [1, 7, 17])
def test_sum_has_the_stated_latency(terms, latency, bits):
    assert adder_tree_latency(terms) == latency
    given, shown = run(Tree(terms, bits, bits + latency), terms, bits, terms)
    assert shown[latency:] == [sum(each) for each in given[: len(given) - latency]]


@pytest.mark.parametrize(("terms", "bits", "most_bits"), [(4, 8, 8), (7, 8, 9), (16, 5, 7)])
def test_sums_wrap_beyond_the_most_bits(terms, bits, most_bits):
    latency = adder_tree_latency(terms)
    given, shown = run(Tree(terms, bits, bits + latency, most_bits=most_bits), terms, bits, terms)
    expected = [wrapped(sum(each), most_bits) for each in given[: len(given) - latency]]
    assert shown[latency:] == expected
    assert any(sum(each) != total for each, total in zip(given, expected, strict=False))


@pytest.mark.parametrize("terms", [2, 5, 6])
def test_owner_makes_each_sum_of_two_and_names_it(terms):
    names = []

    def larger(a, b, name):
        names.append(name)
        return Mux(a > b, a, b)

    given, shown = run(Tree(terms, 6, 10, add=larger), terms, 6, terms)
    latency = adder_tree_latency(terms)
    assert shown[latency:] == [max(each) for each in given[: len(given) - latency]]
    assert len(names) == len(set(names)) == terms - 1
