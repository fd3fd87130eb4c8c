"""Line pace: a window buffer keeps up with a paced stream wherever the model says so, in Amaranth's simulator."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import unsigned

from systoliq.golden.network import Window
from systoliq.hw.network.image import ImageWindow
from systoliq.hw.network.line_pace import keeps_up
from systoliq.hw.network.window_buffer import WindowBuffer

from ..bench import simulate
from . import stage_bench as bench

IMAGES = 6


def seen_cycles(block, pace):
    """Cycles from the second image's end to the last one's: `i` has a beat every `pace` cycles, `o` never waits."""
    ends = []

    async def sender(ctx):
        for _ in range((IMAGES + 1) * block.windows.pixels * block.words):
            ctx.set(block.i.valid, 0)
            for _ in range(pace - 1):
                await ctx.tick()
            ctx.set(block.i.valid, 1)
            await ctx.tick().until(block.i.ready)

    async def receiver(ctx):
        ctx.set(block.o.ready, 1)
        cycle = 0
        async for *_, valid, last in ctx.tick().sample(block.o.valid, block.o.payload.last):
            cycle += 1
            if valid and last:
                ends.append(cycle)
            if len(ends) == IMAGES:
                return

    simulate(block, sender, receiver)
    return ends[-1] - ends[1]


def said_and_seen(windows, pace):
    """Whether the images keep their pace as `keeps_up` says, and in the simulator."""
    block = WindowBuffer(windows, unsigned(8), word=1, padding=0, cells="portable", kind="w")
    source = windows.pixels * windows.channels * pace
    own = windows.out[0] * windows.out[1] * windows.elements
    cycles = max(source, own, 2 * windows.out[0])
    said = keeps_up(windows, lines=block.lines, source_cycles=source, own_cycles=own, cycles=cycles)
    return said, seen_cycles(block, pace) == (IMAGES - 2) * cycles


def drawn(rng):
    """Windows that are quick to simulate, none of which leaves the image."""
    while True:
        image = bench.image_of(rng, most=9)
        windows = ImageWindow(window=bench.window_of(rng, image), image=image, channels=rng.choice([1, 2]))
        if not windows.leaves_image and windows.out[0] * windows.out[1] * windows.elements < 800:
            return windows


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_to_keep_up_does(seed):
    rng = random.Random(seed)
    said, seen = said_and_seen(drawn(rng), rng.choice([1, 2, 3, 4, 6]))
    assert seen or not said


@pytest.mark.parametrize(
    ("window", "image", "channels", "pace"),
    [
        (Window(kernel=(1, 3), pads=(0, 0, 0, 1)), (2, 3), 2, 2),
        (Window(kernel=(4, 2), strides=(2, 3), pads=(1, 0, 0, 1)), (6, 1), 2, 3),
        (Window(kernel=(4, 4), pads=(0, 0, 0, 1)), (6, 4), 2, 4),
    ],
)
def test_lines_that_come_just_in_time_make_windows_late(window, image, channels, pace):
    windows = ImageWindow(window=window, image=image, channels=channels)
    assert said_and_seen(windows, pace) == (False, False)
    assert said_and_seen(windows, 1) == (True, True)


def test_a_line_that_the_first_row_frees_makes_room_at_once():
    """The first row of windows may free as many lines as the buffer needs for the next one."""
    window = Window(kernel=(4, 3), strides=(5, 1), dilations=(2, 1), pads=(2, 1, 4, 0))
    windows = ImageWindow(window=window, image=(8, 6), channels=2)
    for pace in (1, 4):
        assert said_and_seen(windows, pace) == (True, True)
