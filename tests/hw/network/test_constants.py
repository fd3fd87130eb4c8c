"""Constants: the elements over and over, whatever stalls; a beat a cycle."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import signed, unsigned

from systoliq.hw.network.constants import Constants

from . import stage_bench as bench

COUNT = 50


def block(elements, shape, lanes):
    return Constants(elements, shape, lanes=lanes, cells="portable", kind="constants")


def words(elements, bits, lanes):
    """The first `COUNT` beats."""
    rows = [elements[at : at + lanes] for at in range(0, len(elements), lanes)]
    beats = [sum((element & (1 << bits) - 1) << bits * i for i, element in enumerate(row)) for row in rows]
    beats[-1] |= 1 << bits * lanes
    return list(itertools.islice(itertools.cycle(beats), COUNT))


@pytest.mark.parametrize("goes", [1.0, 0.4])
@pytest.mark.parametrize(("count", "lanes"), [(1, 1), (6, 2), (7, 7), (9, 1)])
@pytest.mark.parametrize("shape", [signed(8), unsigned(8)], ids=str)
def test_elements(shape, count, lanes, goes):
    low = -128 if shape.signed else 0
    elements = [random.Random(i).randint(low, low + 255) for i in range(count)]
    run = bench.Bench(block(elements, shape, lanes), seed=count)
    taken = run.simulate({"given": {}, "wanted": {"o": COUNT}, "goes": goes})["o"]
    assert taken[:COUNT] == words(elements, 8, lanes)
    if goes == 1.0:
        first = run.times["o"][0]
        assert run.times["o"][:COUNT] == list(range(first, first + COUNT))


def test_reset_begins_again():
    elements = [3, 1, 4, 1, 5]
    for cycles in range(3, 30, 5):
        cut = {"given": {}, "wanted": {"o": COUNT}, "goes": 0.5, "cycles": cycles}
        run = bench.Bench(block(elements, unsigned(8), 1), seed=cycles)
        assert run.simulate(cut, {"given": {}, "wanted": {"o": COUNT}, "goes": 0.8})["o"][:COUNT] == words(
            elements, 8, 1
        )


def test_lanes_divide_the_elements():
    with pytest.raises(ValueError, match="lanes must divide the 5 elements, not 2"):
        block([1, 2, 3, 4, 5], unsigned(8), 2)
