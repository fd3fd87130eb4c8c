"""The throttle: what stalls does not pass, and what was offered stays; without stalls it is not there."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.soc.throttle import CHANNELS, Throttle

from ..bench import simulate

ENDS = {"ar": "s", "aw": "s", "w": "s", "r": "m", "b": "m"}


@pytest.mark.parametrize(("access", "channel"), [(access, each) for access in CHANNELS for each in CHANNELS[access]])
@pytest.mark.parametrize("stalls", [0.0, 0.5])
def test_a_channel(access, channel, stalls):
    block, rng, index = Throttle(access, 4), random.Random(1), CHANNELS[access].index(channel)
    source = ENDS[channel]
    sink = "m" if source == "s" else "s"
    field = {"ar": "addr", "aw": "addr", "w": "data", "r": "data", "b": "resp"}[channel]
    get = lambda side, name: getattr(block, f"{side}_{channel}{name}")  # noqa: E731

    async def testbench(ctx):
        sent, taken, held, shown = [], [], None, False
        for _ in range(400):
            if held is None and rng.random() < 0.7:
                held = rng.randrange(4)
            stalled, ready = rng.random() < stalls, rng.random() < 0.5
            ctx.set(block.stalls, stalled << index)
            ctx.set(get(source, "valid"), held is not None)
            ctx.set(get(source, field), held or 0)
            ctx.set(get(sink, "ready"), ready)
            *_, valid, value, back = await ctx.tick().sample(get(sink, "valid"), get(sink, field), get(source, "ready"))
            assert valid == (held is not None and (shown or not stalled))
            if valid and ready:
                taken.append(value)
            shown = bool(valid and not ready)
            if held is not None and back:
                sent.append(held)
                held = None
        assert sent == taken
        assert len(sent) > 60

    simulate(block, testbench)
