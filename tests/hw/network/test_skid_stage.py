"""A stream behind registers: every beat once and in order, and no way from one side to the other in a cycle."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.network.skid_stage import skid_stage
from systoliq.hw.result_buffer import y_beat

from ..bench import receive, send, simulate
from . import stage_bench as bench

COUNT = 60


class Registered(wiring.Component):
    def __init__(self):
        beat = y_beat(signed(5), 2)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def elaborate(self, platform):
        m = Module()
        wiring.connect(m, skid_stage(m, platform, wiring.flipped(self.i), name="here"), wiring.flipped(self.o))
        return m


@pytest.mark.parametrize(("comes", "goes"), bench.PACES)
def test_beats_pass_once_and_in_order(comes, goes):
    block, rng = Registered(), random.Random(4)
    bits = [rng.getrandbits(11) for _ in range(COUNT)]
    given = [block.i.payload.shape().from_bits(each) for each in bits]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, given, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, COUNT, random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == bits


def test_neither_side_sees_the_other_in_the_same_cycle():
    block = Registered()

    async def testbench(ctx):
        ctx.set(block.i.valid, 1)
        assert not ctx.get(block.o.valid)
        await ctx.tick()
        assert ctx.get(block.o.valid)
        for ready in (1, 0):
            ctx.set(block.o.ready, ready)
            assert ctx.get(block.i.ready)

    simulate(block, testbench)
