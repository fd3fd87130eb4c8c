"""The transmitter of frames: to the byte what the protocol's Python form says, at any pace of either side."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.link.frame_transmitter import FrameTransmitter
from systoliq.hw.link.framing import encode

from ..bench import receive, send, simulate


def contents(rng):
    special = [0x7E, 0x7D, 0x5E, 0x5D]
    yield bytes([0, 0])
    yield bytes(special)
    yield b"\x55"
    for _ in range(40):
        length = rng.randrange(1, 30)
        yield bytes(rng.choice(special) if rng.random() < 0.4 else rng.randrange(256) for _ in range(length))


@pytest.mark.parametrize("chances", [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.6, 0.6)])
def test_frames_are_those_of_the_protocol(chances):
    rng = random.Random(str(chances))
    sent = [*contents(rng)]
    assert any(b"\x7d" in encode(each)[-6:-1] for each in sent), "a check that is escaped is among them"
    right = b"".join(map(encode, sent))
    component, heard = FrameTransmitter(), []
    payloads = [byte | (index == len(each) - 1) << 8 for each in sent for index, byte in enumerate(each)]

    async def sender(ctx):
        for payload in payloads:
            await send(ctx, component.i, [{"data": payload & 0xFF, "last": payload >> 8}], rng, chances[0])

    async def receiver(ctx):
        heard.append(bytes(await receive(ctx, component.o, len(right), rng, chances[1])))
        await ctx.tick()
        assert ctx.get(component.idle)

    simulate(component, sender, receiver)
    assert heard == [right]
