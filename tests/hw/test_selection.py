"""The selection: the word at the index, so many cycles ago, of any number of words."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.selection import select, select_cycles

from .bench import corner_of, trace


class Selection(wiring.Component):
    def __init__(self, count):
        self.count = count
        super().__init__(
            {"words": In(data.ArrayLayout(signed(9), count)), "index": In(range(count)), "word": Out(signed(9))}
        )

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.word.eq(select(m, [self.words[i] for i in range(self.count)], self.index))
        return m


@pytest.mark.parametrize(
    ("count", "cycles"), [(1, 1), (2, 1), (4, 1), (5, 2), (11, 2), (16, 2), (17, 3), (64, 3), (65, 4)]
)
def test_the_word_of_the_stated_number_of_cycles_ago(count, cycles):
    assert select_cycles(count) == cycles
    rng = random.Random(count)
    lines = [
        {"words": [corner_of(rng, 9) for _ in range(count)], "index": rng.choice([0, count - 1, rng.randrange(count)])}
        for _ in range(60)
    ]
    shown = trace(Selection(count), lines)
    for cycle in range(cycles, len(lines)):
        line = lines[cycle - cycles]
        assert shown[cycle]["word"] == line["words"][line["index"]], cycle
