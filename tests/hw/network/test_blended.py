"""Blended windows: the four pixels around each place, as numpy picks them, whatever stalls."""

from __future__ import annotations

import random

import numpy as np
import pytest
from amaranth.hdl import unsigned

from systoliq.hw.network.blended import BlendedBuffer, BlendedWindow

from ..bench import receive, send, simulate
from . import stage_bench as bench


@pytest.mark.parametrize(("comes", "goes"), bench.PACES)
@pytest.mark.parametrize("seed", range(6))
def test_pixels(seed, comes, goes):
    node = bench.interpolation(random.Random(f"blended {seed}"))
    windows = BlendedWindow.of(node)
    word = max(each for each in (1, 2, 3) if windows.channels % each == 0)
    images = np.random.default_rng(seed).integers(0, 256, (3, *windows.image, windows.channels))
    block = BlendedBuffer(windows, unsigned(8), word=word, padding=0, cells="portable", kind="w")
    rows, columns = (np.array([each.first, each.second]).T for each in (node.rows, node.columns))
    picked = images[:, rows[:, None, :, None], columns[None, :, None, :]]  # [images, rows, columns, 2, 2, channels]
    beats = [{"data": list(map(int, beat)), "last": 0} for beat in images.reshape(-1, word)]
    wanted = [
        sum(int(element) << 8 * lane for lane, element in enumerate(beat)) | (index == len(image) - 1) << 8 * word
        for image in picked.reshape(3, -1, word)
        for index, beat in enumerate(image)
    ]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, beats, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(wanted), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == wanted


def test_lines_are_those_of_the_places():
    """Lines come once and go once, and no row needs a line that is gone."""
    for seed in range(50):
        node = bench.interpolation(random.Random(seed))
        windows = BlendedWindow.of(node)
        needed, freed = np.cumsum(windows.lines_needed()), np.cumsum(windows.lines_freed())
        assert needed[-1] == freed[-1] == windows.image[0]
        assert all(needed > node.rows.second)
        assert all(freed[:-1] <= node.rows.first[1:])
        assert windows.out == (len(node.rows), len(node.columns))
