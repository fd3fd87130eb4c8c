"""Constants: the same elements again and again, a beat a cycle, whatever the taker does."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import signed

from systoliq.hw.network.constants import Constants

from ..bench import receive, simulate


@pytest.mark.parametrize("goes", [1.0, 0.4])
@pytest.mark.parametrize(("elements", "lanes"), [([5], 1), ([1, -2, 3], 1), ([1, -2, 3, -4, 127, -128], 2)])
def test_constants(elements, lanes, goes):
    block = Constants(elements, signed(8), lanes=lanes, cells="portable", kind="constants")
    beats = [
        sum((element & 255) << 8 * i for i, element in enumerate(elements[at : at + lanes]))
        | (at + lanes == len(elements)) << 8 * lanes
        for at in range(0, len(elements), lanes)
    ]
    taken = []

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, 5 * len(beats), random.Random(2), goes))

    simulate(block, receiver)
    assert taken == beats * 5


def test_lanes_that_divide_nothing_are_refused():
    with pytest.raises(ValueError, match="lanes must divide the 3 elements, not 2"):
        Constants([1, 2, 3], signed(8), lanes=2, cells="portable", kind="constants")
