"""The walk over maps: each run where a window's pixel is, or a fill; without maps the plain walk; a run a cycle."""

from __future__ import annotations

import dataclasses
import random

import pytest
from amaranth.hdl import Shape, Signal

from systoliq.golden.network import Window
from systoliq.hw.dma.commands import a_walk
from systoliq.hw.dma.convolutions import Maps, map_fields
from systoliq.hw.dma.map_walk import MapSettings, MapWalk
from systoliq.hw.dma.runs import Run, WalkSettings
from systoliq.hw.engine import EngineConfig

from ..bench import receive, simulate, wait
from .memory import Stopwatch
from .some_maps import some_maps, windows
from .some_walks import settings as plain_settings
from .some_walks import walk

SHAPES = [(1, 1), (1, 3), (2, 1), (8, 2), (9, 3), (16, 1), (7, 2), (24, 2), (17, 1)]


def anything(layout, rng):
    return {name: rng.getrandbits(member) for name, member in layout.members.items()}


def settings_of(maps, bus, address):
    """What the registers hold."""
    begin, of_map = map_fields(maps, bus, address)
    plain = a_walk(EngineConfig(), bus, maps.rows, maps.windows.channels, begin, maps.row_stride)
    return [
        {name: value % (1 << Shape.cast(layout[name].shape).width) for name, value in values.items()}
        for layout, values in ((WalkSettings, dataclasses.asdict(plain)), (MapSettings, of_map))
    ]


def fields(payload):
    run = Run.from_bits(payload)
    where = ("fill", run.address >> 24) if run.fill else run.address
    assert not run.fill or run.address & 0xFFFFFF == 0
    return where, run.extent, bool(run.mark.step_last), bool(run.mark.last), bool(run.mark.moved)


async def play(ctx, block, plain, of_map, maps, count, rng, chance, stopwatch):
    """The runs of a walk, while whose settings change; its cycles are right where nothing waits."""
    assert not ctx.get(block.busy)
    for port, value in ((block.settings, plain), (block.map, of_map), (block.maps, maps), (block.start, 1)):
        ctx.set(port, value)
    await ctx.tick()
    ctx.set(block.start, rng.getrandbits(1))  # while it is busy: nothing
    ctx.set(block.settings, anything(WalkSettings, rng))
    ctx.set(block.map, anything(MapSettings, rng))
    ctx.set(block.maps, rng.getrandbits(1))
    before = stopwatch.cycles
    taken = await receive(ctx, block.o, count, rng, chance)
    if chance == 1:
        assert stopwatch.cycles - before == count + block.latency - 1
    ctx.set(block.start, 0)
    assert not ctx.get(block.o.valid)
    return [fields(each) for each in taken]


@pytest.mark.parametrize("group", [1, 2, 3, 8])
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_without_maps_it_is_the_plain_walk(group, chance):
    block, rng, stopwatch = MapWalk(group=group, kind="walk"), random.Random(group), Stopwatch()

    async def testbench(ctx):
        for rows, steps in SHAPES:
            given = plain_settings(rng, rows, steps)
            expected = [(*run, False) for run in walk(group=group, **given)]
            of_map = anything(MapSettings, rng)
            assert await play(ctx, block, given, of_map, 0, len(expected), rng, chance, stopwatch) == expected
        stopwatch.stopped = True

    simulate(block, testbench, stopwatch.run)


@pytest.mark.parametrize("group", [1, 2, 3, 8])
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_windows_of_maps(group, chance):
    block, rng, stopwatch = MapWalk(group=group, kind="walk"), random.Random(10 + group), Stopwatch()

    async def testbench(ctx):
        for bus in (4, 8, 16, 4, 8, 16, 4, 8, 16):
            maps, address = some_maps(rng, bus)
            expected = windows(maps, bus, address, group)
            given = settings_of(maps, bus, address)
            assert await play(ctx, block, *given, 1, len(expected), rng, chance, stopwatch) == expected
        stopwatch.stopped = True

    simulate(block, testbench, stopwatch.run, limit=100_000)


@pytest.mark.parametrize(
    ("change", "moves"),
    [
        ({}, True),
        ({"row_stride": 12}, False),
        ({"tap_stride": 12}, False),
        ({"stride_x": 2}, False),
        ({"steps": 2}, False),
    ],
)
def test_pixels_are_in_common_where_addresses_and_coordinates_say_so(change, moves):
    """Settings of a line of windows, whether maps have such ones or not."""
    group, rows, taps = 3, 5, 3
    given = {"row_stride": 8, "tap_stride": 8, "stride_x": 1, "steps": 1} | change
    plain = {"address": 100, "row_stride": given["row_stride"], "step_stride": 4, "rows": rows, "steps": given["steps"]}
    plain |= {"extent": 3, "last_extent": 3}
    of_map = dict.fromkeys(MapSettings.members, 1) | {"out_width": rows, "width": 4, "height": 1, "taps_x": taps}
    of_map |= {"tap_stride": given["tap_stride"], "stride_x": given["stride_x"], "origin_x": 0, "origin_y": 0}
    expected = []
    for first in range(0, rows, group):
        of_group = range(first, min(first + group, rows))
        for tap in range(taps):
            for step in range(given["steps"]):
                moved = moves and tap > 0
                for row in of_group[-1:] if moved else of_group:
                    at = 100 + row * given["row_stride"] + step * 4
                    at += tap * (given["tap_stride"] + (given["steps"] - 1) * 4)
                    there = row * given["stride_x"] + tap < 4
                    ends = row == of_group[-1]
                    last = row == rows - 1 and tap == taps - 1 and step == given["steps"] - 1
                    expected.append((at if there else ("fill", 1), 3, ends, last, moved))
    block, rng, stopwatch = MapWalk(group=group, kind="walk"), random.Random(1), Stopwatch()

    async def testbench(ctx):
        assert await play(ctx, block, plain, of_map, 1, len(expected), rng, 1, stopwatch) == expected
        stopwatch.stopped = True

    simulate(block, testbench, stopwatch.run)


@pytest.mark.parametrize("taken", [3, 4, 5, 6, 7, 8])
def test_behind_a_reset_a_walk_is_right(taken):
    """The first walk crosses lines, and then moves; the reset finds it anywhere."""
    window = Window(kernel=(1, 3), strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0))
    block, reset, rng, stopwatch = MapWalk(group=2, kind="walk"), Signal(), random.Random(1), Stopwatch()
    before = Maps.of((1, 2, 5, 1) if taken % 2 else (1, 1, 6, 1), window)
    behind = Maps.of((1, 1, 6, 1) if taken % 2 else (1, 3, 3, 1), window)

    async def testbench(ctx):
        plain, of_map = settings_of(before, 4, 64)
        for port, value in ((block.settings, plain), (block.map, of_map), (block.maps, 1), (block.start, 1)):
            ctx.set(port, value)
        await ctx.tick()
        ctx.set(block.start, 0)
        await receive(ctx, block.o, taken, rng)
        ctx.set(reset, 1)
        await wait(ctx, 1)
        ctx.set(reset, 0)
        expected = windows(behind, 4, 640, 2)
        assert await play(ctx, block, *settings_of(behind, 4, 640), 1, len(expected), rng, 1, stopwatch) == expected
        stopwatch.stopped = True

    simulate(block, testbench, stopwatch.run, reset=reset)


def test_a_reset_ends_a_walk():
    block, reset, rng = MapWalk(group=2, kind="walk"), Signal(), random.Random(1)

    async def testbench(ctx):
        ctx.set(block.settings, plain_settings(rng, 4, 4))
        ctx.set(block.start, 1)
        await ctx.tick()
        ctx.set(block.start, 0)
        await receive(ctx, block.o, 3, rng)
        ctx.set(reset, 1)
        await wait(ctx, 1)
        ctx.set(reset, 0)
        assert not ctx.get(block.busy)
        assert not ctx.get(block.o.valid)

    simulate(block, testbench, reset=reset)
