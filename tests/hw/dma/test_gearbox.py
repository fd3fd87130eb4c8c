"""The gearbox: each frame's bytes, in words of any other width, whatever stalls."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.dma.gearbox import Gearbox

from ..bench import receive, send, simulate


def frame_beats(frame, size, rng):
    for at in range(0, len(frame), size):
        part = frame[at : at + size]
        padded = part + rng.randbytes(size - len(part))
        yield {"data": int.from_bytes(padded, "little"), "keep": (1 << len(part)) - 1, "last": at + size >= len(frame)}


@pytest.mark.parametrize(("i_size", "o_size"), [(4, 4), (16, 4), (4, 16), (64, 16), (8, 4), (16, 16)])
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (0.6, 0.6)])
def test_words_of_frames(i_size, o_size, comes, goes):
    block, rng = Gearbox(i_size, o_size), random.Random(i_size)
    frames = [rng.randbytes(rng.choice([1, i_size, o_size, rng.randrange(1, 5 * i_size + o_size)])) for _ in range(30)]
    expected = [frame[at : at + o_size] for frame in frames for at in range(0, len(frame), o_size)]
    taken = []

    async def sender(ctx):
        beats = [beat for frame in frames for beat in frame_beats(frame, i_size, rng)]
        await send(ctx, block.i, beats, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert [
        word.to_bytes(o_size, "little")[: len(part)] for word, part in zip(taken, expected, strict=True)
    ] == expected


def test_sizes_are_powers_of_two():
    with pytest.raises(ValueError, match="o_size must be a power of two, not 12"):
        Gearbox(4, 12)
