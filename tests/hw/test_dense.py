"""The dense layer in Amaranth's simulator, both streams stalling: what golden makes of the layer, to the bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from amaranth.hdl import Signal

from systoliq.golden import INT8, UINT8
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, Dense

from .bench import receive, send, simulate, wait


def layer(k, n, seed, *, residue=False):
    rng = np.random.default_rng(seed)
    b = rng.integers(0 if residue else 90, 256 if residue else 200, (k, n)).astype(np.uint8)
    return MatMulLayer(
        b=b, a_scale=0.02, a_zero_point=np.uint8(121), b_scale=np.float32(rng.uniform(0.01, 0.05, n)),
        b_zero_point=np.uint8(140), y_scale=0.3, y_zero_point=np.int8(-9),
        bias=rng.integers(-999, 999, n).astype(np.int32),
    )  # fmt: skip


def beats(dense, a):
    """The rows of `a` as the layer takes them; rows and elements that fill up are of no meaning."""
    rows, depth, count = dense.config.rows, dense.config.depth, dense.schedule.beats
    groups = -(-len(a) // rows)
    full = np.full((groups * rows, count * depth), 77)
    full[: len(a), : a.shape[1]] = a
    words = full.reshape(groups, rows, count, depth).transpose(0, 2, 1, 3).reshape(-1, rows, depth)
    return [{"data": word.tolist(), "last": i == len(words) - 1} for i, word in enumerate(words)]


def outputs(dense, taken, m):
    """Y of the beats that left, and the `last` of each."""
    schedule, shape = dense.schedule, dense.y.payload.shape()
    found = [shape.from_bits(bits) for bits in taken]
    y, lasts = np.zeros((schedule.groups(m) * dense.config.rows, schedule.n), int), [beat.last for beat in found]
    queue = iter(found)
    for group in range(schedule.groups(m)):
        for tile in range(schedule.column_tiles):
            for row in range(dense.config.rows):
                values = [value for _ in range(schedule.row_beats(tile)) for value in next(queue).data]
                first = tile * dense.config.cols
                columns = min(dense.config.cols, schedule.n - first)
                y[group * dense.config.rows + row, first : first + columns] = values[:columns]
    return y[:m], lasts


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 1), (3, 4, 2), (1, 6, 4)], ids=str)  # rows, cols, depth
@pytest.mark.parametrize(("k", "n"), [(1, 1), (7, 5)])
@pytest.mark.parametrize(("chance", "residue", "resets"), [(1.0, False, False), (0.5, True, False), (0.6, False, True)])
def test_layer(size, k, n, chance, residue, resets):
    rows, cols, depth = size
    of = layer(k, n, seed=k, residue=residue)
    constants = Requantization.from_scales(of.scale, of.y_zero_point, INT8)
    dense = Dense(of, constants, ArrayConfig(rows=rows, cols=cols, depth=depth))
    m, reset, taken = 5, Signal(), []
    a = np.random.default_rng(n).integers(0, 256, (m, k)).astype(np.uint8)
    given = beats(dense, a)
    count = dense.schedule.groups(m) * rows * dense.schedule.beats_per_row
    before = 25 if resets else 0

    async def sender(ctx):
        ctx.set(dense.a.payload, given[0])
        ctx.set(dense.a.valid, resets)
        await wait(ctx, before)
        ctx.set(dense.a.valid, 0)
        ctx.set(reset, resets)
        await ctx.tick()
        ctx.set(reset, 0)
        await send(ctx, dense.a, given, random.Random(1), chance)

    async def receiver(ctx):
        ctx.set(dense.y.ready, 1)
        await wait(ctx, before + 1)
        taken.extend(await receive(ctx, dense.y, count, random.Random(2), chance))

    simulate(dense, sender, receiver, reset=reset)
    y, lasts = outputs(dense, taken, m)
    np.testing.assert_array_equal(y, of.golden(a))
    assert lasts == [0] * (count - 1) + [1]


def wide(k):
    """Sums of up to k * 255 * 127, without a bias."""
    scales = {"a_scale": 1.0, "b_scale": 1.0, "y_scale": 2.0**24}
    zero_points = {"a_zero_point": np.uint8(0), "b_zero_point": np.int8(0), "y_zero_point": np.int8(0)}
    return MatMulLayer(b=np.full((k, 1), 127, np.int8), **scales, **zero_points)


@pytest.mark.parametrize(
    ("k", "bits", "message"),
    [
        (
            9,
            19,
            r"accumulator_bits must be at least 20 to hold every sum of K = 9 products and the bias \(0 to 291465\)",
        ),
        (
            66312,
            32,
            r"\(0 to 2147514120\) needs 33 bits, more than int32 has: ask for wrapping, with accumulator_bits at",
        ),
    ],
)
def test_accumulators_hold_every_sum(k, bits, message):
    of = wide(k)
    constants = Requantization.from_scales(of.scale, of.y_zero_point, of.y_format)
    with pytest.raises(ValueError, match=message):
        Dense(of, constants, ArrayConfig(a=UINT8, accumulator_bits=bits))
