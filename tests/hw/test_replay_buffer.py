"""The replay buffer: packets, each so many times in a row, whatever stalls; and at full rate without a gap."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.replay_buffer import ReplayBuffer

from .bench import receive, send, simulate, wait

SIZES = [(1, 1), (1, 5), (2, 2), (3, 1), (5, 3), (8, 2)]  # beats, times


def packets(count, beats, seed):
    rng = random.Random(seed)
    return [[rng.getrandbits(12) for _ in range(beats)] for _ in range(count)]


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize(("beats", "times"), SIZES)
@pytest.mark.parametrize(
    ("comes", "goes", "reset_at"), [(0.4, 1.0, None), (1.0, 0.4, None), (0.6, 0.6, 3), (0.6, 0.6, 17)]
)
def test_each_packet_leaves_the_stated_number_of_times(registered, beats, times, comes, goes, reset_at):
    block, reset = (
        ReplayBuffer(unsigned(12), beats=beats, times=times, cells="portable", registered=registered),
        Signal(),
    )
    given = packets(7, beats, seed=beats)
    taken = []

    async def sender(ctx):
        if reset_at is not None:  # packets before the reset, of other values
            ctx.set(block.i.payload, 0xABC)
            ctx.set(block.i.valid, 1)
            await wait(ctx, reset_at)
            ctx.set(block.i.valid, 0)
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)
        await send(ctx, block.i, itertools.chain(*given), random.Random(1), comes)

    async def receiver(ctx):
        if reset_at is not None:
            ctx.set(block.o.ready, 1)
            await wait(ctx, reset_at + 1)
        taken.extend(await receive(ctx, block.o, 7 * beats * times, random.Random(2), goes))

    simulate(block, sender, receiver, reset=reset)
    assert taken == [word for packet in given for word in packet * times]


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize(("beats", "times"), [(1, 2), (2, 2), (5, 3), (8, 2)])
def test_neither_side_waits_at_full_rate(registered, beats, times):
    block = ReplayBuffer(unsigned(12), beats=beats, times=times, cells="portable", registered=registered)
    left = []

    async def sender(ctx):
        await send(ctx, block.i, itertools.chain(*packets(6, beats, seed=0)), random.Random(1))

    async def watch(ctx):
        ctx.set(block.o.ready, 1)
        cycle = 0
        while len(left) < 6 * beats * times:
            *_, valid = await ctx.tick().sample(block.o.valid)
            if valid:
                left.append(cycle)
            cycle += 1

    simulate(block, sender, watch)
    first = beats - 1 + block.latency
    assert left == list(range(first, first + 6 * beats * times))
