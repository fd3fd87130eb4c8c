"""Walks: nested loops of random lengths, against Python's own; places by addition of their moves."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.network.walk import Walk

from ..bench import trace

BITS = 9


class Walker(wiring.Component):
    def __init__(self, counts, moves, start):
        self.counts, self.moves, self.start = counts, moves, start
        super().__init__({"step": In(1), "at": Out(BITS), "last": Out(len(counts)), "outer": Out(8)})

    def elaborate(self, platform):
        m = Module()
        walk = Walk(m, self.counts, step=self.step, name="round")
        m.d.comb += self.at.eq(walk.place(self.moves, self.start, BITS, name="at"))
        m.d.comb += [self.last[level].eq(last) for level, last in enumerate(walk.last)]
        m.d.comb += self.outer.eq(walk.counts[-1].value)
        return m


def moved(rounds, move):
    return rounds * move if isinstance(move, int) else sum(move[:rounds])


def expected(counts, moves, start, steps):
    """Place, lasts and the outermost round of each step; around the loops is one that never ends."""
    walk = list(itertools.product(*(range(count) for count in reversed(counts))))
    found = []
    for step in range(steps):
        turn, index = divmod(step, len(walk))
        rounds = [*walk[index][::-1], turn]
        at = start + sum(moved(each, move) for each, move in zip(rounds, moves, strict=False))
        lasts = [all(t == c - 1 for t, c in zip(rounds[: i + 1], counts, strict=False)) for i in range(len(counts))]
        last = sum(x << i for i, x in enumerate(lasts))
        found.append({"at": at % (1 << BITS), "last": last, "outer": rounds[-2]})
    return found


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_places(seed, endless, uneven):
    rng = random.Random(seed)
    counts = [rng.choice([1, 1, 2, 3, 5]) for _ in range(rng.randint(1, 5))]
    moves = [rng.randint(-70, 70) for _ in range(len(counts) + endless)]
    if uneven:
        moves[: len(counts)] = [
            [rng.randint(-70, 70) for _ in range(count - 1)] if rng.random() < 0.6 else move
            for count, move in zip(counts, moves, strict=False)
        ]
    start = rng.randint(-100, 100)
    wanted = iter(expected(counts, moves, start, 200))
    steps = [rng.random() < 0.8 for _ in range(200)]
    shown = trace(Walker(counts, moves, start), [{"step": int(step)} for step in steps])
    now = next(wanted)
    for step, line in zip(steps, shown, strict=True):
        assert line == now
        now = next(wanted) if step else now


def test_reset_begins_again():
    counts, moves = [3, 2], [1, 10]
    for cycles in range(1, 8):
        lines = [{"step": 1}] * cycles + [{"rst": 1}, {"rst": 0}] + [{}] * 5
        shown = trace(Walker(counts, moves, 4), lines)[cycles + 1 :]
        assert [line["at"] for line in shown] == [4, 5, 6, 14, 15, 16]
