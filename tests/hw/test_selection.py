"""The selection: the word at the index, so many cycles ago, of any number of words."""

from __future__ import annotations

import functools
import random

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.selection import REACH, select, select_cycles, sweep, sweep_cycles

from .bench import corner_of, trace


class Selection(wiring.Component):
    def __init__(self, count, choose=select):
        self.count = count
        self.choose = choose
        super().__init__(
            {"words": In(data.ArrayLayout(signed(9), count)), "index": In(range(count)), "word": Out(signed(9))}
        )

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.word.eq(self.choose(m, [self.words[i] for i in range(self.count)], self.index))
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


@pytest.mark.parametrize(
    ("count", "cycles"),
    [
        (1, 1),
        (11, 2),
        (REACH, 3),
        (REACH + 1, 5),
        (2 * REACH + 11, 6),
        (3 * REACH + 11, 7),
        pytest.param(130, 9, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("pace", [1, 3])
@pytest.mark.parametrize("late", [0, 2])
def test_a_sweep_gives_each_word_the_stated_number_of_cycles_later(count, cycles, pace, late):
    """Words change as soon as they may, after a sweep; sweeps begin again as soon as they may, or later."""
    if count > REACH:
        cycles += late
    assert sweep_cycles(count, late) == cycles
    rng = random.Random(count)
    lines, wanted = [], {}
    for pause in (0, 0, 2, 0):
        words = [corner_of(rng, 9) for _ in range(count)]
        for index in range(count):
            wanted[len(lines) + cycles] = words[index]
            lines += [{"words": words, "index": index}] * pace
        lines += [{"words": words, "index": 0}] * max(late - pace + 1, 0)
        lines += [{"words": [corner_of(rng, 9) for _ in range(count)], "index": 0} for _ in range(pause)]
    lines += [{"words": [0] * count, "index": 0}] * cycles
    shown = trace(Selection(count, functools.partial(sweep, late=late)), lines)
    assert [shown[cycle]["word"] for cycle in wanted] == list(wanted.values())
