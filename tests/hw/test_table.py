"""Table: the value at every index, a constant where all are equal."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Const, Module, Shape, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.table import table

from .bench import corner_of, trace


class Looked(wiring.Component):
    def __init__(self, values, bits):
        self.values, self.bits = values, bits
        super().__init__({"index": In(range(len(values))), "value": Out(signed(bits))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.value.eq(table(m, self.index, self.values, Shape.cast(signed(self.bits)), name="entry"))
        return m


@pytest.mark.parametrize(("count", "bits"), [(1, 4), (2, 1), (3, 8), (16, 24), (37, 9)])
def test_every_index_shows_its_value_at_once(count, bits):
    rng = random.Random(count)
    values = [corner_of(rng, bits) for _ in range(count)]
    order = rng.sample(range(count), count)
    shown = trace(Looked(values, bits), [{"index": index} for index in order])
    assert [line["value"] for line in shown] == [values[index] for index in order]


def test_equal_values_are_a_constant():
    m = Module()
    entry = table(m, Signal(3), [-7] * 5, Shape.cast(signed(4)), name="entry")
    assert isinstance(entry, Const)
    assert entry.value == -7
