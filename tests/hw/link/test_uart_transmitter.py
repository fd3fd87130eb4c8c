"""The serial line's transmitter: what it sends, an independent receiver hears, each bit as long as the divisor says."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.link.uart_transmitter import UartTransmitter

from ..bench import send, simulate
from .line import hear


@pytest.mark.sampled(3)
@pytest.mark.parametrize("divisor", [4, 5, 16, 104])
@pytest.mark.parametrize("chance", [1.0, 0.02])
def test_bytes_are_heard(divisor, chance):
    rng = random.Random(divisor)
    sent = bytes([0, 255, 0x55, *rng.randbytes(9)])
    component, heard, lengths = UartTransmitter(), [], []
    done = False

    async def sender(ctx):
        ctx.set(component.divisor, divisor)
        await ctx.tick()
        assert ctx.get(component.tx) == ctx.get(component.idle) == 1
        await send(ctx, component.i, list(sent), rng, chance)

    async def hearer(ctx):
        nonlocal done
        heard.append(await hear(ctx, component.tx, len(sent), divisor=divisor))
        done = True

    async def watcher(ctx):
        level, length = 1, 0
        while not done:
            *_, tx = await ctx.tick().sample(component.tx)
            if tx != level:
                lengths.append(length)
                level, length = tx, 0
            length += 1

    simulate(component, sender, hearer, watcher, limit=40_000)
    assert heard == [sent]
    low_and_high = lengths[1:]
    assert min(low_and_high) >= divisor
    if chance == 1.0:  # nothing but bits and the cycle in which the next byte is taken
        assert all(length % divisor <= 1 for length in low_and_high)
