"""The bare array: products of tiles from two streams that both stall, and its cycle model."""

from __future__ import annotations

import random

import numpy as np
import pytest
from amaranth.hdl import Signal

from systoliq.golden import INT8, IntFormat
from systoliq.hw import ArrayConfig, BareArray

from .bench import corner, send, simulate, wait

SIZES = [(1, 1, 1), (1, 3, 2), (4, 1, 1), (3, 5, 1), (4, 4, 3)]  # rows, cols, depth


def words(rng, config, beats):
    """(a, b) of a tile: [beats, lanes, depth] each."""
    return tuple(
        np.array([corner(rng, fmt.min, fmt.max) for _ in range(beats * lanes * config.depth)]).reshape(
            beats, lanes, config.depth
        )
        for fmt, lanes in ((config.a, config.rows), (config.b, config.cols))
    )


def run(config, beats, seed, *, chance=1.0, reset_at=None):
    """(sums [tile, row, col], cycles from the first beat to the last sum); resets once, then starts anew."""
    block, rng = BareArray(config), random.Random(seed)
    tiles = [words(rng, config, count) for count in beats]
    reset, found, cycles = Signal(), [[] for _ in range(config.cols)], []
    count = len(beats) * config.rows

    ends = [beat == count - 1 for count in beats for beat in range(count)]
    of_a, of_b = (np.concatenate(side).tolist() for side in zip(*tiles, strict=True))
    of_a = [{"data": word, "last": last} for word, last in zip(of_a, ends, strict=True)]

    async def streams(ctx):
        if reset_at is not None:
            ctx.set(block.a.payload, {"data": [[1] * config.depth] * config.rows, "last": 0})
            ctx.set(block.b.payload, [[1] * config.depth] * config.cols)
            for cycle in range(reset_at + 1):
                ctx.set(block.a.valid, cycle < reset_at)
                ctx.set(block.b.valid, cycle < reset_at)
                ctx.set(block.a.payload.last, cycle % 4 == 3)
                ctx.set(reset, cycle == reset_at)
                await ctx.tick()
            ctx.set(reset, 0)
        await send(ctx, block.a, of_a, random.Random(seed + 1), chance)

    async def operands_of_b(ctx):
        if reset_at is not None:
            await wait(ctx, reset_at + 1)
        await send(ctx, block.b, of_b, random.Random(seed + 2), chance)

    async def watch(ctx):
        if reset_at is not None:
            await wait(ctx, reset_at + 1)
        cycle = 0
        while any(len(column) < count for column in found):
            *_, a, taken, valid, sums = await ctx.tick().sample(block.a.valid, block.a.ready, block.valid, block.sums)
            if a and taken and not cycles:
                cycles.append(cycle)
            for col in range(config.cols):
                if valid >> col & 1:
                    found[col].append(sums[col])
            cycle += 1
        cycles.append(cycle)
        for _ in range(8):  # and no more
            *_, valid = await ctx.tick().sample(block.valid)
            assert not valid

    simulate(block, streams, operands_of_b, watch, reset=reset)
    total = np.array(found).T.reshape(len(beats), config.rows, config.cols)
    expected = [np.einsum("krd,kcd->rc", a, b) for a, b in tiles]
    np.testing.assert_array_equal(total, expected)
    return block, cycles[1] - cycles[0]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("chance", [1.0, 0.6])
def test_sums_are_the_product(size, chance):
    rows, cols, depth = size
    config = ArrayConfig(rows=rows, cols=cols, depth=depth, a=INT8, b=IntFormat(5, signed=False))
    run(config, [1, 1, 3, 7, 2, 1, 9], seed=rows, chance=chance)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("beats", [[1], [4, 1, 8, 1]])
def test_cycle_model(size, beats):
    rows, cols, depth = size
    block, cycles = run(ArrayConfig(rows=rows, cols=cols, depth=depth), beats, seed=cols)
    assert cycles == block.cycles(beats)


@pytest.mark.parametrize("reset_at", [5, 8, 10])
def test_reset_ends_all_tiles(reset_at):
    run(ArrayConfig(rows=3, cols=3), [1, 2, 4], seed=7, reset_at=reset_at)
