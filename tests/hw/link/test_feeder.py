"""The feeder: beats of a unit, the lowest byte first, whatever the memory's latency and the taker's pace."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.link.feeder import Feeder

from ..bench import receive, simulate


@pytest.mark.parametrize("latency", [1, 2])
@pytest.mark.parametrize(("beats", "beat_bytes"), [(1, 1), (1, 5), (7, 1), (4, 3), (8, 2)])
def test_units_come_as_beats(beats, beat_bytes, latency):
    rng = random.Random(f"{beats}, {beat_bytes}, {latency}")
    component, found = Feeder(beats=beats, beat_bytes=beat_bytes, latency=latency), []
    units = [rng.randbytes(beats * beat_bytes) for _ in range(4)]
    held = units[0]

    async def memory(ctx):
        pipeline = [None] * latency
        while len(found) < len(units) * beats:
            *_, read, address = await ctx.tick().sample(component.read, component.address)
            pipeline = [*pipeline[1:], held[address] if read else None]
            if pipeline[0] is not None:
                ctx.set(component.data, pipeline[0])

    async def testbench(ctx):
        nonlocal held
        for unit in units:
            held = unit
            await ctx.tick().repeat(1 + rng.randrange(5))
            assert not ctx.get(component.busy)
            ctx.set(component.start, 1)
            await ctx.tick()
            ctx.set(component.start, 0)
            found.extend(await receive(ctx, component.o, beats, rng, 0.5))
            await ctx.tick()

    simulate(component, testbench, memory)
    wide = 8 * beat_bytes
    for number, unit in enumerate(units):
        beats_found = found[number * beats : (number + 1) * beats]
        assert b"".join((beat & (1 << wide) - 1).to_bytes(beat_bytes, "little") for beat in beats_found) == unit
        assert [beat >> wide for beat in beats_found] == [0] * (beats - 1) + [1]
