"""The window buffer: windows of random maps as numpy cuts them, whatever stalls; without a gap at full rate."""

from __future__ import annotations

import dataclasses
import random
import re

import numpy as np
import pytest
from amaranth.hdl import unsigned

from systoliq.golden.network import Window
from systoliq.hw.network.image import ImageWindow
from systoliq.hw.network.window_buffer import WindowBuffer

from ..bench import receive, send, simulate
from . import stage_bench as bench

SHAPE = unsigned(8)


def images_of(*, height, width, channels, kernel=(1, 1), stride=(1, 1), dilation=(1, 1), pads=(0, 0, 0, 0)):
    window = Window(kernel=kernel, strides=stride, dilations=dilation, pads=pads)
    return ImageWindow(window=window, image=(height, width), channels=channels)


WINDOWS = [
    (images_of(height=1, width=1, channels=1), 1),
    (images_of(height=4, width=5, channels=4, kernel=(3, 3), pads=(1, 1, 1, 1)), 2),
    (images_of(height=6, width=4, channels=2, kernel=(3, 2), stride=(2, 1), pads=(0, 1, 1, 0)), 2),
    (images_of(height=5, width=5, channels=4, kernel=(1, 1), stride=(2, 2)), 4),
    (images_of(height=7, width=6, channels=2, kernel=(2, 2), dilation=(2, 3), pads=(1, 0, 0, 2)), 1),
    (images_of(height=4, width=3, channels=6, kernel=(4, 3)), 3),
    (images_of(height=9, width=3, channels=1, kernel=(2, 2), stride=(4, 2)), 1),
    (images_of(height=3, width=8, channels=3, kernel=(3, 5), pads=(2, 2, 2, 2)), 1),
    (images_of(height=1, width=10, channels=2, kernel=(1, 4), stride=(1, 2), pads=(0, 1, 0, 2)), 2),
    (images_of(height=2, width=2, channels=2, kernel=(1, 1), pads=(3, 2, 2, 0)), 2),
    (images_of(height=6, width=5, channels=1, kernel=(1, 1), stride=(5, 1)), 1),
]


def elements_of(images, sliding, padding, word):
    """The elements of all windows of images [..., rows, columns, channels] in order: for each [beats, word]."""
    patches = sliding.window.patches(images.transpose(0, 3, 1, 2), padding)
    batch, channels, down, across, *kernel = patches.shape
    groups = patches.reshape(batch, sliding.groups, channels // sliding.groups, down, across, *kernel)
    return groups.transpose(0, 3, 4, 1, 5, 6, 2).reshape(batch, -1, word)


def bits(word):
    return sum(int(element) << 8 * i for i, element in enumerate(word))


def drive(window, word, *, count=3, comes=1.0, goes=1.0, taps=(1, 1)):
    images = np.random.default_rng(word).integers(0, 256, (count, *window.image, window.channels))
    block = WindowBuffer(window, SHAPE, word=word, padding=77, cells="portable", kind="w", taps=taps)
    beats = [{"data": list(map(int, beat)), "last": 0} for beat in images.reshape(-1, word)]
    expected = elements_of(images, window, 77, word * taps[0] * taps[1])
    words = [bits(word) | (i == len(image) - 1) << 8 * len(word) for image in expected for i, word in enumerate(image)]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, beats, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(words), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == words


@pytest.mark.sampled(3)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.6, 0.7)])
@pytest.mark.parametrize(("window", "word"), WINDOWS)
def test_windows(window, word, comes, goes, grouped):
    """Grouped: each beat is a group, as depthwise convolutions want it."""
    groups = window.channels // word if grouped else 1
    drive(dataclasses.replace(window, groups=groups), word, comes=comes, goes=goes)


GAPLESS = [
    (images_of(height=6, width=5, channels=4, kernel=(3, 3), pads=(1, 1, 1, 1)), 2),
    (images_of(height=4, width=6, channels=1, kernel=(3, 3)), 1),
    (images_of(height=6, width=6, channels=2, kernel=(3, 3), stride=(2, 2), pads=(0, 0, 1, 1)), 1),
    (images_of(height=4, width=8, channels=1, kernel=(2, 2), stride=(2, 2)), 1),
    (images_of(height=2, width=2, channels=4, kernel=(2, 2)), 2),
    (images_of(height=4, width=4, channels=1, kernel=(1, 1), pads=(0, 1, 0, 0)), 1),
]


@pytest.mark.parametrize(("window", "word"), GAPLESS)
def test_no_gap_between_windows_rows_and_images(window, word):
    """Not even at the corners: lines come while windows are made."""
    block = WindowBuffer(window, SHAPE, word=word, padding=0, cells="portable", kind="w")
    image_beats = block.beats * window.out[0] * window.out[1]
    left = []

    async def sender(ctx):
        await send(
            ctx,
            block.i,
            [{"data": [1] * word, "last": 0}] * (4 * window.pixels * block.words),
            random.Random(0),
        )

    async def watch(ctx):
        ctx.set(block.o.ready, 1)
        cycle = 0
        while len(left) < 4 * image_beats:
            *_, valid = await ctx.tick().sample(block.o.valid)
            if valid:
                left.append(cycle)
            cycle += 1

    simulate(block, sender, watch)
    assert left == list(range(left[0], left[0] + 4 * image_beats))


def test_nothing_comes_before_its_image():
    """Not even the windows that are all padding."""
    window = images_of(height=2, width=2, channels=1, kernel=(1, 1), pads=(2, 0, 0, 0))
    block = WindowBuffer(window, SHAPE, word=1, padding=9, cells="portable", kind="w")

    async def watch(ctx):
        ctx.set(block.o.ready, 1)
        for _ in range(20):
            *_, valid = await ctx.tick().sample(block.o.valid)
            assert not valid

    simulate(block, watch)


def test_memory_of_stable_size():
    """Lines to spare only where rows of windows are as quick as the lines that they wait for."""
    slow = images_of(height=8, width=8, channels=1, kernel=(3, 3), pads=(1, 1, 1, 1))
    quick = images_of(height=8, width=8, channels=1, kernel=(2, 2), stride=(2, 2))
    lines = [WindowBuffer(w, SHAPE, word=1, padding=9, cells="portable", kind="w").lines for w in (slow, quick)]
    assert (slow.lines, quick.lines, lines) == (4, 4, [4, 8])


def test_word_divides_the_channels():
    images = images_of(height=1, width=1, channels=4)
    with pytest.raises(ValueError, match="word must divide the 4 channels, not 3"):
        WindowBuffer(images, SHAPE, word=3, padding=0, cells="portable", kind="w")
    two = dataclasses.replace(images, groups=2)
    with pytest.raises(ValueError, match="word must divide the 2 channels of a group, not 4"):
        WindowBuffer(two, SHAPE, word=4, padding=0, cells="portable", kind="w")


def test_several_pixels_are_all_of_their_channels():
    images = images_of(height=3, width=3, channels=4, kernel=(3, 3))
    with pytest.raises(ValueError, match=re.escape("word must be all 4 channels for (1, 3) taps, not 2")):
        WindowBuffer(images, SHAPE, word=2, padding=0, cells="portable", kind="w", taps=(1, 3))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(16))
def test_several_pixels_at_a_time(seed):
    rng = random.Random(f"taps {seed}")
    wide = []
    while not wide:
        image = bench.image_of(rng)
        channels = rng.choice([1, 2, 4])
        groups = rng.choice([each for each in (1, 2, 4) if each <= channels])
        window = ImageWindow(window=bench.window_of(rng, image), image=image, channels=channels, groups=groups)
        wide = [depth for depth in window.depths if depth > channels // groups]
    comes, goes = rng.choice(bench.PACES)
    for depth in {rng.choice(wide), wide[-1]}:
        drive(window, channels // groups, comes=comes, goes=goes, taps=window.taps(depth))


@pytest.mark.parametrize("seed", range(6))
def test_random_windows(seed):
    rng = random.Random(f"windows {seed}")
    image = bench.image_of(rng)
    channels = rng.choice([1, 2, 4])
    groups = rng.choice([each for each in (1, 2, 4) if each <= channels])
    window = ImageWindow(window=bench.window_of(rng, image), image=image, channels=channels, groups=groups)
    comes, goes = rng.choice(bench.PACES)
    drive(window, rng.choice([1, channels // groups]), comes=comes, goes=goes)
