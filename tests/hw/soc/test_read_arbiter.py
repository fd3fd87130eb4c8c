"""The arbiter of reads: each master gets its own beats, once, in order, and its turn."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from systoliq.hw.dma.axi4 import axi4_read
from systoliq.hw.soc.axi_ram import AxiRam
from systoliq.hw.soc.ports import join, slave
from systoliq.hw.soc.read_arbiter import ReadArbiter
from systoliq.hw.soc.throttle import CHANNELS, Throttle

from ..bench import simulate
from .masters import reads
from .ram_words import words

SIZE, BUS = 1024, 4


class Shared(wiring.Component):
    """Masters at one memory, a throttle before it and one before each master."""

    def __init__(self, masters, memory):
        self.masters, self.memory = masters, memory
        members = {}
        for index in range(masters):
            members |= slave(axi4_read(f"s{index}", BUS))
        super().__init__(members)
        self.arbiter = ReadArbiter(masters, BUS)
        self.throttles = [Throttle("read", BUS) for _ in range(masters + 1)]

    def elaborate(self, platform):
        m = Module()
        m.submodules.ram = ram = AxiRam(BUS, SIZE, contents="none", init=words(self.memory, BUS))
        m.submodules.arbiter = self.arbiter
        m.submodules += self.throttles
        *before, last = self.throttles
        for index, throttle in enumerate(before):
            join(m, throttle, "s", self, f"s{index}")
            join(m, throttle, "m", self.arbiter, f"s{index}")
        join(m, self.arbiter, "m", last, "s")
        join(m, last, "m", ram, "s", CHANNELS["read"])
        return m


@pytest.mark.sampled(9)
@pytest.mark.parametrize("masters", [2, 1, 4])
@pytest.mark.parametrize(("chance", "stalls"), [(0.7, 0.4), (1.0, 0.0), (0.5, 0.0)])
def test_each_master_gets_its_own(masters, chance, stalls):
    rng = random.Random(7 * masters)
    memory = rng.randbytes(SIZE)
    block, ended = Shared(masters, memory), 0

    def master(index):
        async def run(ctx):
            nonlocal ended
            await reads(ctx, block, f"s{index}", BUS, memory, random.Random(index), 40, chance)
            ended += 1

        return run

    async def throttle(ctx):
        while ended < masters:
            for each in block.throttles:
                ctx.set(each.stalls, sum((rng.random() < stalls) << bit for bit in range(2)))
            await ctx.tick()

    simulate(block, *map(master, range(masters)), throttle)


def test_full_speed():
    """Four masters that ask all the time: a beat a cycle in all."""
    block = Shared(4, bytes(SIZE))

    async def run(ctx):
        for index in range(4):
            for name, value in (("arvalid", 1), ("arlen", 7), ("rready", 1)):
                ctx.set(getattr(block, f"s{index}_{name}"), value)
        beats = 0
        for _ in range(300):
            *_, valid = await ctx.tick().sample(block.arbiter.m_rvalid)
            beats += valid
        assert beats == 299

    simulate(block, run)


def test_everybody_has_a_turn():
    block, order = Shared(3, bytes(SIZE)), []

    async def run(ctx):
        for index in range(3):
            for name, value in (("arvalid", 1), ("rready", 1)):
                ctx.set(getattr(block, f"s{index}_{name}"), value)
        for _ in range(60):
            *_, a, b, c = await ctx.tick().sample(*(getattr(block, f"s{index}_arready") for index in range(3)))
            order.extend(index for index, ready in enumerate((a, b, c)) if ready)

    simulate(block, run)
    assert len(order) > 50
    assert all({*order[at : at + 3]} == {0, 1, 2} for at in range(len(order) - 3))
