"""The bursts: each byte of a run in one of them, none across a boundary, at a burst a cycle."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.dma.axi4 import BURST_BEATS
from systoliq.hw.dma.bursts import Bursts, burst
from systoliq.hw.dma.bus import BUS_BYTES

from ..bench import receive, send, simulate
from .memory import Stopwatch


def bursts(address, size, bus):
    """(address, beats) of a run's bursts, from the protocol's rules."""
    at, end = address // bus * bus, address + size
    while at < end:
        stop = min((at // (bus * BURST_BEATS) + 1) * bus * BURST_BEATS, -(-end // bus) * bus)
        yield at, (stop - at) // bus
        at = stop


def sizes(rng, bus):
    return rng.choice([1, bus, rng.randrange(1, 4 * bus), rng.randrange(1, 70 * bus), 3 * BURST_BEATS * bus])


@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_bursts_of_runs(bus, chance):
    block, rng = Bursts(bus), random.Random(bus)
    runs = [
        (rng.choice([0, 4096, rng.randrange(1 << 31)]) + rng.randrange(3 * bus), sizes(rng, bus)) for _ in range(80)
    ]
    marks = [{"step_last": rng.getrandbits(1), "last": rng.getrandbits(1)} for _ in runs]
    expected = []
    for (address, size), mark in zip(runs, marks, strict=True):
        of_run = list(bursts(address, size, bus))
        beats = sum(count for _, count in of_run)
        for index, (at, count) in enumerate(of_run):
            expected.append(
                {
                    "address": at,
                    "length": count - 1,
                    "first": int(index == 0),
                    "final": int(index == len(of_run) - 1),
                    "offset": address % bus,
                    "end": (address + size - 1) % bus,
                    "spill": int(beats > -(-size // bus)),
                    "mark": mark,
                }
            )
    taken, stopwatch = [], Stopwatch()

    async def sender(ctx):
        payloads = [
            {"address": address, "extent": size - 1, "mark": mark}
            for (address, size), mark in zip(runs, marks, strict=True)
        ]
        await send(ctx, block.i, payloads, random.Random(1), chance)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), chance))
        if chance == 1:
            assert stopwatch.cycles <= len(expected) + 3
        stopwatch.stopped = True

    simulate(block, sender, receiver, stopwatch.run)
    layout = burst(bus)
    assert [layout.from_bits(each) for each in taken] == [layout.from_bits(layout.const(e).as_bits()) for e in expected]
