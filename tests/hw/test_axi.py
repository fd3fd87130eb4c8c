"""The edge: elements side by side in whole bytes, the streams' handshakes passed on."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from amaranth.lib.wiring import In, Out

from systoliq.golden import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, AxiBareArray, AxiDense, BareArray, Dense
from systoliq.hw.axi import AxiPipeline, axi_bits, axi_stream

from .bench import simulate, wrapped
from .network.small_networks import assembled, crossed, residual


def test_bits_are_whole_bytes():
    assert [axi_bits(bits) for bits in (1, 7, 8, 9, 16, 17)] == [8, 8, 8, 16, 16, 24]


@pytest.mark.parametrize(("flow", "back"), [(In, Out), (Out, In)])
def test_ready_goes_the_other_way(flow, back):
    members = axi_stream("s", 9, flow)
    assert members == {"s_tdata": flow(16), "s_tvalid": flow(1), "s_tlast": flow(1), "s_tready": back(1)}


def pack(elements, bits):
    return sum((int(value) & (1 << bits) - 1) << i * bits for i, value in enumerate(np.ravel(elements)))


async def drive(ctx, block, name, words, rng, *, last=None):
    """AXI4-Stream master of `words`; `last` says which of them end a packet."""
    for i, word in enumerate(words):
        while rng.random() < 0.3:
            await ctx.tick()
        ctx.set(getattr(block, f"{name}_tdata"), word)
        if last is not None:
            ctx.set(getattr(block, f"{name}_tlast"), last(i))
        ctx.set(getattr(block, f"{name}_tvalid"), 1)
        ready = 0
        while not ready:
            *_, ready = await ctx.tick().sample(getattr(block, f"{name}_tready"))
        ctx.set(getattr(block, f"{name}_tvalid"), 0)


def test_bare_array():
    config = ArrayConfig(rows=3, cols=2, depth=1, a=IntFormat(5, signed=True), b=IntFormat(3, signed=False))
    block = AxiBareArray(BareArray(config))
    rng = np.random.default_rng(1)
    a, b = rng.integers(-16, 16, (4, 6, 3)), rng.integers(0, 8, (4, 6, 2))  # [tile, beat, lane]
    found = [[], []]
    assert (len(block.s_axis_a_tdata), len(block.s_axis_b_tdata), len(block.sums)) == (16, 8, 64)
    assert not hasattr(block, "s_axis_b_tlast")

    async def operands_of_a(ctx):
        words = [pack(word, 5) for word in a.reshape(24, 3)]
        await drive(ctx, block, "s_axis_a", words, random.Random(2), last=lambda i: i % 6 == 5)

    async def operands_of_b(ctx):
        await drive(ctx, block, "s_axis_b", [pack(word, 3) for word in b.reshape(24, 2)], random.Random(3))

    async def watch(ctx):
        while len(found[1]) < 12:
            *_, valid, sums = await ctx.tick().sample(block.sums_valid, block.sums)
            for col in range(2):
                if valid >> col & 1:
                    found[col].append(wrapped(sums >> 32 * col & 0xFFFFFFFF, 32))

    simulate(block, operands_of_a, operands_of_b, watch)
    np.testing.assert_array_equal(np.array(found).T.reshape(4, 3, 2), np.einsum("tkr,tkc->trc", a, b))


def test_dense():
    rng = np.random.default_rng(4)
    layer = MatMulLayer(
        b=rng.integers(-4, 4, (5, 3)).astype(np.int8),
        b_format=IntFormat(3, signed=True), a_format=IntFormat(4, signed=False),
        a_scale=1.0, a_zero_point=2, b_scale=1.0, b_zero_point=0, y_scale=8.0, y_zero_point=3,
        y_format=IntFormat(5, signed=False),
    )  # fmt: skip
    constants = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    dense = Dense(layer, constants, ArrayConfig(rows=1, cols=3, depth=1, b=layer.b_format))
    block = AxiDense(dense)
    lanes = dense.schedule.lanes
    a = rng.integers(0, 16, (8, 5))
    steps = 8 * dense.schedule.beats_per_row
    assert len(block.s_axis_a_tdata) == 8
    assert len(block.m_axis_y_tdata) == axi_bits(5 * lanes)
    taken = []

    async def operands(ctx):
        await drive(ctx, block, "s_axis_a", [int(x) for x in a.ravel()], random.Random(5), last=lambda i: i == 39)

    async def results(ctx):
        wait = random.Random(6)
        while len(taken) < steps:
            ctx.set(block.m_axis_y_tready, wait.random() < 0.6)
            *_, valid, ready, word, last = await ctx.tick().sample(
                block.m_axis_y_tvalid, block.m_axis_y_tready, block.m_axis_y_tdata, block.m_axis_y_tlast
            )
            if valid and ready:
                taken.append((word, last))

    simulate(block, operands, results)
    assert [last for _, last in taken] == [0] * (steps - 1) + [1]
    assert all(word < 1 << 5 * lanes for word, _ in taken)  # filled up with zeros
    y = [word >> 5 * lane & 31 for word, _ in taken for lane in range(lanes)]
    np.testing.assert_array_equal(np.reshape(y, (8, -1))[:, :3], layer.golden(a.astype(np.uint8)))


def of_network():
    """A network's top, and the beats of an image."""
    assembly = assembled(residual())
    block = AxiPipeline(assembly.pipeline, image_beats=assembly.image_beats)
    return block, block.image_beats[0]


def of_layer():
    """A layer's top, and the beats of a group."""
    layer = MatMulLayer(
        b=np.ones((5, 2), np.int8), a_scale=1.0, a_zero_point=np.int8(2), b_scale=1.0, b_zero_point=np.int8(0),
        y_scale=8.0, y_zero_point=np.int8(3),
    )  # fmt: skip
    constants = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    return AxiDense(Dense(layer, constants, ArrayConfig(cols=2))), 5


@pytest.mark.sampled(6)
@pytest.mark.parametrize("made", [of_network, of_layer])
@pytest.mark.parametrize("stray", [0, 3, None])
def test_a_tlast_in_the_wrong_place(made, stray):
    """One that comes with another beat than the last is an error."""
    block, beats = made()
    seen = []

    async def operands(ctx):
        ctx.set(block.m_axis_y_tready, 1)
        places = {beats - 1} if stray is None else {beats - 1, stray}
        await drive(ctx, block, "s_axis_a", [0] * beats, random.Random(1), last=lambda i: i in places)
        await ctx.tick().repeat(3)
        seen.append(ctx.get(block.error))

    simulate(block, operands)
    assert seen == [stray is not None]


@pytest.mark.parametrize("wrong", [None, "a0", "a1"])
def test_a_tlast_of_any_input(wrong):
    """One error for all inputs."""
    assembly = assembled(crossed())
    block = AxiPipeline(assembly.pipeline, image_beats=assembly.image_beats)
    assert (block.inputs, block.outputs) == (("a0", "a1"), ("y0", "y1"))
    errors = []

    def sender(letter, count):
        async def operands(ctx):
            stray = count - 2 if letter == wrong else count - 1
            await drive(ctx, block, f"s_axis_{letter}", [0] * count, random.Random(5), last=lambda i: i == stray)

        return operands

    async def results(ctx):
        ctx.set(block.m_axis_y0_tready, 1)
        ctx.set(block.m_axis_y1_tready, 1)
        for _ in range(200):
            _, _, error = await ctx.tick().sample(block.error)
            errors.append(error)

    simulate(block, *itertools.starmap(sender, zip(block.inputs, block.image_beats, strict=True)), results)
    assert errors[-1] == (wrong is not None)
