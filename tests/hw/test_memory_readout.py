"""The way out of a memory: every word once, in order, held until it is taken, and without a gap at full rate."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.block_ram import BlockRam
from systoliq.hw.memory_readout import memory_readout

from .bench import receive, simulate

WORDS = 40


class Source(wiring.Component):
    """Writes the numbers 0 to 63, and gives them out while `available`."""

    def __init__(self, latency):
        self.latency = latency
        super().__init__({"available": In(1), "o": Out(stream.Signature(unsigned(6)))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.ram = ram = BlockRam(unsigned(6), depth=64, cells="portable", registered=self.latency == 2)
        filled, at = Signal(range(65)), Signal(6)
        out = memory_readout(m, available=self.available & filled[6], ready=self.o.ready, latency=self.latency)
        with m.If(~filled[6]):
            m.d.sync += filled.eq(filled + 1)
        with m.If(out.fetch):
            m.d.sync += at.eq(at + 1)
        m.d.comb += [
            ram.write.eq(~filled[6]),
            ram.write_address.eq(filled[:6]),
            ram.write_data.eq(filled[:6]),
            ram.read.eq(out.read),
            ram.read_address.eq(at),
            ram.show.eq(out.show),
            self.o.valid.eq(out.valid),
            self.o.payload.eq(ram.read_data),
        ]
        return m


@pytest.mark.parametrize("latency", [1, 2])
@pytest.mark.parametrize(("available", "ready"), [(1.0, 1.0), (1.0, 0.4), (0.4, 1.0), (0.6, 0.6)])
def test_every_word_once_in_order(latency, available, ready):
    block, taken = Source(latency), []

    async def sender(ctx):
        rng = random.Random(1)
        while len(taken) < WORDS:
            ctx.set(block.available, rng.random() <= available)
            await ctx.tick()

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, WORDS, random.Random(2), ready))

    simulate(block, sender, receiver)
    assert taken == list(range(WORDS))


@pytest.mark.parametrize("latency", [1, 2])
def test_a_word_leaves_in_every_cycle(latency):
    block, left = Source(latency), []

    async def watch(ctx):
        ctx.set(block.o.ready, 1)
        ctx.set(block.available, 1)
        for cycle in range(64 + latency + WORDS):
            *_, valid = await ctx.tick().sample(block.o.valid)
            if valid:
                left.append(cycle)

    simulate(block, watch)
    assert left == list(range(64 + latency, 64 + latency + WORDS))
