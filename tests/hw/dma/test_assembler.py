"""The assembler: each word of a run, whole or cut off by its end, whatever stalls."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.dma.assembler import Assembler
from systoliq.hw.dma.transposer import column_word

from ..bench import receive, send, simulate


@pytest.mark.parametrize(("bus", "size"), [(4, 4), (4, 3), (4, 16), (8, 12), (16, 8), (16, 64), (4, 10)])
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (0.5, 1.0), (0.6, 0.6)])
def test_words_of_runs(bus, size, comes, goes):
    block, rng = Assembler(bus, size), random.Random(size)
    several = size * 3 if size % bus == 0 else size
    runs = [rng.randbytes(rng.choice([size, several, rng.randrange(1, several + 1)])) for _ in range(40)]
    expected, given, taken = [], [], []
    for index, run in enumerate(runs):
        ends = index % 7 == 6
        parts = [run[at : at + bus] for at in range(0, len(run), bus)]
        for part in parts:
            padded = part + rng.randbytes(bus - len(part))
            given.append(
                {
                    "data": int.from_bytes(padded, "little"),
                    "end": len(part) - 1,
                    "last": part is parts[-1],
                    "mark": {"step_last": ends, "last": ends},
                }
            )
        words = [run[at : at + size] for at in range(0, len(run), size)]
        expected += [(word, ends and word is words[-1]) for word in words]

    async def sender(ctx):
        await send(ctx, block.i, given, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))

    simulate(block, sender, receiver)
    for payload, (word, last) in zip(taken, expected, strict=True):
        found = column_word(size).from_bits(payload)
        assert found.last == last
        assert found.data.to_bytes(size, "little")[: len(word)] == word
